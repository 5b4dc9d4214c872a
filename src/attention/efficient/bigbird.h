// Random blocks, a window of blocks and global tokens: Zaheer et al., "Big Bird: Transformers for
// Longer Sequences", 2020.
//   block a looks at the blocks a - 1, a, a + 1, at r blocks drawn for it, and at the first g
//   tokens
// The first g tokens look at all. Which blocks are drawn follows from the layer's name and from
// how many there are. Cost n b (3 + r).
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct BigBirdOptions {
  int64_t block = 64;         // tokens of a block
  int64_t random_blocks = 3;  // r
  int64_t global_tokens = 1;  // g
};
// The mechanism; `seed` is what blocks are drawn by.
SelfAttention bigbird_self_attention(uint64_t seed, const BigBirdOptions& options);

}  // namespace fovea
