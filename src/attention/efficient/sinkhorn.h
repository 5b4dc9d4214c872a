// Blocks that are sorted before they are looked at: Tay, Bahri, Yang, Metzler, Juan, "Sparse
// Sinkhorn Attention", 2020.
//   R = sinkhorn(q_a . k_b / (t sqrt(d)))     sorted_a = sum_b R_ab block_b
// over means q_a, k_b of blocks; sinkhorn makes rows and columns sum to one by turns, in
// logarithms. Each block looks at itself and at the block that came to its place. Cost n b + (n /
// b)^2 b.
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct SinkhornOptions {
  int64_t block = 64;             // tokens of a block
  int64_t sort_steps = 7;         // turns of rows and columns
  double sort_temperature = 0.7;  // t: below 1 comes nearer to a permutation
};
// The mechanism.
SelfAttention sinkhorn_self_attention(const SinkhornOptions& options);

// Rows and columns of e^x [..., n, n] sum to one, as far as `steps` get; where mask (int32, of x's
// shape) is 0 the result is 0.
Tensor sinkhorn(const Tensor& x, const Tensor& mask, int64_t steps);

}  // namespace fovea
