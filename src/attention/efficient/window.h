// Sliding window with global tokens: Beltagy, Peters, Cohan, "Longformer", 2020.
//   token i looks at i - w/2 .. i + w/2 and at the first g tokens, which look at all, with
//   projections W_g^Q, W_g^K, W_g^V of their own
// Causal it looks at i - w .. i and the first g tokens. Cost n (w + g).
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct WindowOptions {
  int64_t window = 256;       // tokens, half of them on each side; causal all before
  int64_t global_tokens = 1;  // the first of a sequence, which see all and are seen by all
  // Of the layer, for the global tokens' projections; 0: they use those of the others.
  int64_t d_model = 0, heads = 0, d_head = 0;
};
// The mechanism.
SelfAttention window_self_attention(Scope s, const WindowOptions& options);

}  // namespace fovea
