// Sinusoidal positions: Vaswani et al., "Attention Is All You Need", 2017.
//   PE(p, 2i) = sin(p / 10000^(2i/d))     PE(p, 2i + 1) = cos(p / 10000^(2i/d))
// For any length, nothing to learn. PE(p + delta) is PE(p) with each pair of features rotated by an
// angle that depends on delta alone, so a linear layer can look a fixed distance away.
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

// [T, d], to be added to the inputs of a model; the first row is that of position `offset`.
Tensor sinusoidal(int64_t T, int64_t d, int64_t offset = 0, Dtype dtype = Dtype::f32,
                  double base = 10000);

}  // namespace fovea
