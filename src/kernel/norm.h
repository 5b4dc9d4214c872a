// Layer normalisation along rows x[rows, cols]: y = (x - mean) rstd gamma + beta.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/norm.h"

namespace fovea::kernel {

// mean[rows] and rstd[rows] = 1 / sqrt(variance + eps) are kept for the gradient.
void layer_norm(float* y, float* mean, float* rstd, const float* x, const float* gamma,
                const float* beta, int64_t rows, int64_t cols, float eps);
using naive::layer_norm;

// What of the gradient is wanted, and where it goes.
using naive::NormGradient;
void layer_norm_grad(const NormGradient<float>& to, const float* dy, const float* x,
                     const float* gamma, const float* mean, const float* rstd, int64_t rows,
                     int64_t cols);
using naive::layer_norm_grad;

}  // namespace fovea::kernel
