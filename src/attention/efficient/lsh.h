// Attention in buckets of a hash: Kitaev, Kaiser, Levskaya, "Reformer", 2020.
//   k_i = q_i / |q_i|     h(x) = argmax [x R; -x R]     R random
// Tokens are sorted by bucket and cut into chunks; each looks at those of its bucket in its own
// chunk and the one before, and at itself only where there is nobody else. Several rounds with
// other R are joined by their sums of exponentials. Causal, each looks at the last 2 chunk tokens
// of its bucket so far: what a token sees then depends on nothing that comes later, which chunks of
// a whole sorted sequence do. With one bucket all see all. Many buckets are pairs of hashes.
// Cost n log n.
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct LshOptions {
  int64_t buckets = 0;      // an even number, or 1; 0: so many that a chunk is twice one of them
  int64_t chunk = 64;       // tokens
  int64_t hash_rounds = 2;  // hashes, each with another R
  int64_t longest = 1024;   // tokens that buckets = 0 goes by in a decoder, which cannot know
};
// The mechanism. While this thread trains R is drawn from its stream, else it follows from `seed`.
SelfAttention lsh_self_attention(uint64_t seed, const LshOptions& options);

}  // namespace fovea
