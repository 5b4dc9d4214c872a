// Synthesizer: Tay, Bahri, Metzler, Juan, Zhao, Zheng, "Synthesizer: Rethinking Self-Attention in
// Transformer Models", 2020. Weights that compare no tokens:
//   dense: e_i = W_2 relu(W_1 x_i)     random: e_i = R_i     factorized: e_ij = R_i . S_j
// with W_1 the queries' projection and W_2, R, S learned for places, so that there is a longest
// sequence. Cost n^2, as that of full attention, but without keys.
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct SynthesizerOptions {
  std::string synthesizer = "dense";  // dense, random or factorized
  int64_t heads = 1, d_head = 1;      // of the layer
  int64_t rank = 64;                  // of factorized: features of R and S
  int64_t longest = 1024;             // tokens
};
// The mechanism. Paths: weight; of factorized rows and columns.
SelfAttention synthesizer_self_attention(Scope s, const SynthesizerOptions& options);

}  // namespace fovea
