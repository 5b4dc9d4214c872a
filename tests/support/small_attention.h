// Options small enough that every way of looking leaves something out at a dozen tokens.
#pragma once

#include "fovea/attention/catalog.h"

namespace fovea::test {

// For `heads` heads of `d` features.
inline AttentionOptions small_options(int64_t d, int64_t heads) {
  AttentionOptions o;
  o.d_q = o.d_k = o.d_v = d;
  o.heads = o.input_heads = heads;
  o.reach = 2;
  o.window = 4, o.global_tokens = 2, o.block = 3, o.summary_tokens = 1, o.random_blocks = 1;
  o.buckets = 4, o.chunk = 2, o.hash_rounds = 2, o.rank = 5, o.kernel_features = 8;
  o.landmarks = 4, o.conv_width = 3, o.longest_keys = 64;
  return o;
}

}  // namespace fovea::test
