// Products of float32 numbers that are added up in float64.
#pragma once

#include <cstdint>

namespace fovea::kernel {

// y [rows, out] = x [rows, in] w^T + bias, w [out, in]; the bias may be null. Sums have one order.
void precise_linear(double* y, const float* x, const float* w, const float* bias, int64_t rows,
                    int64_t out, int64_t in);
void precise_linear(double* y, const double* x, const float* w, const float* bias, int64_t rows,
                    int64_t out, int64_t in);

}  // namespace fovea::kernel
