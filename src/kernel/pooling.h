// The maximum or the mean of windows of images [batch, height, width, channels] and, as images of
// height 1, of sequences.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/pooling.h"

namespace fovea::kernel {

using naive::Pooling;

// at[batch, positions, channels]: where each maximum stands, for the gradient.
void max_pool(const Pooling& p, float* y, int32_t* at, const float* x);
void max_pool_grad(const Pooling& p, float* dx, const float* dy, const int32_t* at);
void avg_pool(const Pooling& p, float* y, const float* x);
void avg_pool_grad(const Pooling& p, float* dx, const float* dy);

inline void max_pool(const Pooling& p, double* y, int32_t* at, const double* x) {
  naive::max_pool(p, y, at, x);
}
inline void max_pool_grad(const Pooling& p, double* dx, const double* dy, const int32_t* at) {
  naive::max_pool_grad(p, dx, dy, at);
}
inline void avg_pool(const Pooling& p, double* y, const double* x) { naive::avg_pool(p, y, x); }
inline void avg_pool_grad(const Pooling& p, double* dx, const double* dy) {
  naive::avg_pool_grad(p, dx, dy);
}

}  // namespace fovea::kernel
