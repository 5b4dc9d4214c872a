// Dropout: which element is kept is a hash of (key, its index), so that the mask needs no memory
// and is the same whatever the threads, the instruction set and the order.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/dropout.h"

namespace fovea::kernel {

// y = keep ? x / (1 - p) : 0, with p in [0, 1). Its own gradient: dx = dropout(dy) with the same
// key.
void dropout(float* y, const float* x, int64_t n, double p, uint64_t key);
inline void dropout(double* y, const double* x, int64_t n, double p, uint64_t key) {
  naive::dropout(y, x, n, p, key);
}

}  // namespace fovea::kernel
