// Batch normalisation of columns x[rows, cols]: y = (x - mean) rstd gamma + beta, and max(y, 0)
// where that follows.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/batch_norm.h"

namespace fovea::kernel {

using naive::BatchNorm;

// Of each column over the rows, of which there is at least one: the mean, and the variance divided
// by their number. Rows are summed in blocks whose size depends on the columns alone.
void column_moments(float* mean, float* variance, const float* x, int64_t rows, int64_t cols);
using naive::column_moments;

void batch_norm(float* y, const BatchNorm<float>& n);
using naive::batch_norm;

// dgamma and dbeta are always given; dx, if not null, with mean and rstd as functions of x, or as
// constants where they are `fixed`.
void batch_norm_grad(float* dx, float* dgamma, float* dbeta, const float* dy,
                     const BatchNorm<float>& n, bool fixed);
using naive::batch_norm_grad;

}  // namespace fovea::kernel
