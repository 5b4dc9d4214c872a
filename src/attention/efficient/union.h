// Softmax over keys that come in several sets, each of them a range of rows for every query: a
// window, blocks, what a hash put side by side. Every set goes through the fused kernel, which does
// no work outside of ranges, and the sets are joined by their sums of exponentials:
//   o_i = sum_s e^(l_si - l_i) o_si     l_i = log sum_s e^l_si
// Going back, each set meets the weights e^(score - l_i) of the whole. Time and memory grow with
// the ranges.
#pragma once

#include <vector>

#include "fovea/attention/contract.h"

namespace fovea {

// One set of keys for each query.
struct KeySet {
  // Which row stands at each place, where that is not as they lie in memory: [batches, heads,
  // places], with every query once. A key of -1 is a row that nobody may look at.
  int64_t order_batches = 1, order_heads = 1;  // 1 or all: how many lists there are
  std::vector<int32_t> queries{}, keys{};      // empty: as they lie
  // The query at a place may look at the places [lo, hi) of keys: [batches, heads, Tq].
  int64_t range_batches = 1, range_heads = 1;  // 1 or all: how many ranges a query has
  std::vector<int32_t> lo{}, hi{};             // both are needed
  bool others_first = false;  // a query looks at its own place only where there is nothing else

  // The row at a place of head h of entry b.
  int64_t query(int64_t b, int64_t h, int64_t place, int64_t Tq) const {
    return queries.empty() ? place : queries[static_cast<size_t>(list(b, h) * Tq + place)];
  }
  int64_t key(int64_t b, int64_t h, int64_t place, int64_t places) const {
    return keys.empty() ? place : keys[static_cast<size_t>(list(b, h) * places + place)];
  }
  // The number of its list.
  int64_t list(int64_t b, int64_t h) const {
    return (b % order_batches) * order_heads + h % order_heads;
  }
  // How many places keys have, where Tk rows lie in memory.
  int64_t places(int64_t Tk) const {
    return keys.empty() ? Tk : static_cast<int64_t>(keys.size()) / (order_batches * order_heads);
  }
};

// Contexts [B, Tq, H, Dv] of in.q, in.k and in.v with scores q . k / sqrt(D); in.dropout counts,
// in.who does not. A key that is in two sets counts twice.
Tensor attend_union(const AttentionInputs& in, std::vector<KeySet> sets);

}  // namespace fovea
