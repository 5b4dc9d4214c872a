// Relative positions, a learned bias for each bucket of distances: Raffel et al., "Exploring the
// Limits of Transfer Learning with a Unified Text-to-Text Transformer" (T5), 2020.
//   e_ij += b_bucket(j - i)
// Half of the buckets hold one distance each; the rest grow logarithmically up to `longest`, and
// the last takes all beyond. In both directions, keys before and after the query have half of them
// each; with causal, keys after it share the bucket of distance 0.
#pragma once

#include "fovea/attention/position/positions.h"

namespace fovea {

struct T5Options {
  int64_t buckets = 32;   // of distances, in all
  int64_t longest = 128;  // from this distance on all share the last bucket
  bool causal = false;    // no key after the query is looked at
};

// The bucket of a key that stands `distance` = j - i after its query.
int64_t t5_bucket(int64_t distance, const T5Options& options = {});

// The learned biases.
struct T5Position {
  Parameter weight;   // [buckets, heads]
  T5Options options;  // as it was made

  // Biases start as N(0, 0.1^2).
  T5Position(Scope s, int64_t heads, const T5Options& options = {});

  // [1, heads, 1, 2 longest + 1]: beyond `longest` nothing changes.
  Tensor distances() const;
  // [1, heads, Tq, Tk]; query i stands where key i + offset does.
  Tensor bias(int64_t Tq, int64_t Tk, int64_t offset = 0) const;
};

// For MultiHeadOptions::positions: each attention learns its own.
PositionsFactory t5_positions(const T5Options& options = {});

}  // namespace fovea
