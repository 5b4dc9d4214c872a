// Low rank: Wang, Li, Khabsa, Fang, Ma, "Linformer", 2020.
//   c = softmax(Q (E K)^T / sqrt(d)) (F V),   E, F of shape [k, n], shared by the heads
// Cost n k. E and F are learned for places, so there is a longest sequence and no causal form.
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct LowRankOptions {
  int64_t rank = 64;       // k
  int64_t longest = 1024;  // tokens
};
// The mechanism. Paths: keys, values, both [rank, longest].
SelfAttention low_rank_self_attention(Scope s, const LowRankOptions& options);

}  // namespace fovea
