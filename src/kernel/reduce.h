// Sums and maxima along one axis of x[outer, n, inner].
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/reduce.h"

namespace fovea::kernel {

// y[outer, inner] = sum over the middle axis. The order of additions depends on the sizes alone.
void sum_axis(float* y, const float* x, int64_t outer, int64_t n, int64_t inner);
inline void sum_axis(double* y, const double* x, int64_t outer, int64_t n, int64_t inner) {
  naive::sum_axis(y, x, outer, n, inner);
}

// y = the maximum, at = where it stands first; n is at least 1.
void max_axis(float* y, int32_t* at, const float* x, int64_t outer, int64_t n, int64_t inner);
inline void max_axis(double* y, int32_t* at, const double* x, int64_t outer, int64_t n,
                     int64_t inner) {
  naive::max_axis(y, at, x, outer, n, inner);
}

// Sum of squares, for gradient clipping: in double, since millions of terms go in.
double square_sum(const float* x, int64_t n);
inline double square_sum(const double* x, int64_t n) { return naive::square_sum(x, n); }

}  // namespace fovea::kernel
