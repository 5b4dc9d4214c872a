// Rotary positions: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding",
// 2021.
//   (x_a, x_b) of position p is rotated by the angle p 10000^(-2i/d), i = 0 ... d/2 - 1
// so that q_i . k_j depends on j - i alone. Pair i is (2i, 2i + 1) in the paper and (i, i + d/2) in
// GPT-NeoX and Llama. The adjoint is the rotation by the opposite angle.
#pragma once

#include "fovea/attention/position/positions.h"
#include "fovea/op/tape.h"

namespace fovea {

struct RotaryOptions {
  // Which features turn together: (2i, 2i + 1), or (i, i + d/2).
  enum class Pairs { neighbours, halves };
  Pairs pairs = Pairs::neighbours;  // as the paper has them
  double base = 10000;              // of the angles: larger ones turn more slowly
  int64_t width = 0;                // only the first so many features turn; 0 is all
};

// x [B, T, H, D], whose first row stands at position `offset`.
Tensor rotary(const Tensor& x, int64_t offset = 0, const RotaryOptions& options = {});

// For MultiHeadOptions::positions: nothing is learned.
PositionsFactory rotary_positions(const RotaryOptions& options = {});

}  // namespace fovea
