// Alpha-entmax along rows z[rows, cols]: sparsemax (alpha 2), 1.5-entmax, any alpha in (1, 2].
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/align.h"

namespace fovea::kernel {

// Rows go to threads whole; within one the work is a sort, which the plain code does as well.
template <class T>
void entmax(T* p, const T* z, int64_t rows, int64_t cols, double alpha);
template <class T>
void entmax_grad(T* dz, const T* dp, const T* p, int64_t rows, int64_t cols, double alpha);

}  // namespace fovea::kernel
