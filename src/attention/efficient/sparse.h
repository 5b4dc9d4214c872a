// Sparse Transformer: Child, Gray, Radford, Sutskever, "Generating Long Sequences with Sparse
// Transformers", 2019. Each head looks at both of its patterns (the paper's merged heads).
//   strided: |i - j| <= l,  or (i - j) mod l = 0
//   fixed:   the same block of l,  or the last c tokens of a block
// Causal those with j <= i. Cost n (2 l + n / l), least where l is near the root of n; fixed
// n (l + c n / l).
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct SparseOptions {
  int64_t block = 64;           // l
  int64_t summary_tokens = 10;  // c, of the fixed pattern
};
// The mechanisms.
SelfAttention strided_self_attention(const SparseOptions& options);
SelfAttention fixed_self_attention(const SparseOptions& options);

}  // namespace fovea
