// Who may look at whom. A pattern is a statement, not a matrix of -1e9; statements combine with
// `&`:
//   Pattern who = causal() & window(128, 0) & lengths(n);
// True means "may attend". A query that may attend nothing gets a zero context.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Sizes of one attention call: batch, heads, queries, keys.
struct Extent {
  int64_t B, H, Tq, Tk;  // in that order
  bool operator==(const Extent&) const = default;
};

// A sparse pattern: for each query a list of its keys, as kernel/attention_edges.h has it. Lists
// are the same for all batch entries and heads, or each has its own.
struct EdgePattern {
  int64_t batches = 1, heads = 1;  // 1 or all of them: how many sets of lists there are
  int64_t edges = 0;               // of the set that has most
  std::vector<int64_t> offsets;    // [sets, Tq + 1], from 0 in each set
  std::vector<int32_t> keys;       // [sets, edges], rising within a list, no key twice
  // The same edges by key, for backward passes.
  std::vector<int64_t> key_offsets{};
  std::vector<int32_t> key_edges{}, key_queries{};

  int64_t sets() const { return batches * heads; }  // how many sets of lists there are
  // The number of the set that head h of entry b goes by.
  int64_t set(int64_t b, int64_t h) const { return (b % batches) * heads + h % heads; }
  // The keys of query i in a set, and the number of the first of these edges.
  std::span<const int32_t> keys_of(int64_t set, int64_t i, int64_t Tq) const {
    const int64_t* at = &offsets[static_cast<size_t>(set * (Tq + 1) + i)];
    return std::span(keys).subspan(static_cast<size_t>(set * edges + at[0]),
                                   static_cast<size_t>(at[1] - at[0]));
  }
};

// A pattern worked out for given sizes, as kernels take it: for each query a range of keys, and a
// byte for each key where ranges do not suffice; empty vectors allow everything. Or a list of
// edges, and then neither of them: what it takes grows with the edges, not with queries times keys.
struct ResolvedPattern {
  std::vector<int32_t> lo, hi;  // [range_batches, range_heads, Tq]: keys [lo, hi)
  std::vector<uint8_t> mask;    // [mask_batches, mask_heads, Tq, Tk]: not 0 = may attend
  // 1 or all of them: how many sets of ranges and masks there are.
  int64_t range_batches = 1, range_heads = 1, mask_batches = 1, mask_heads = 1;
  std::optional<EdgePattern> edges;  // there: `lo`, `hi` and `mask` are empty

  // The same with a mask in the place of edges, for paths that know no edges.
  ResolvedPattern dense(const Extent& extent) const;
  // Whether query i of (b, h) may look at key j.
  bool allows(const Extent& e, int64_t b, int64_t h, int64_t i, int64_t j) const;
};

// A statement, made of rules that must all agree. Copying one is cheap.
class Pattern {
 public:
  Pattern() = default;  // everyone may look at everyone

  friend Pattern operator&(Pattern a, const Pattern& b) {
    if (b.rules_.empty()) return a;
    if (a.rules_.empty()) return b;
    a.rules_.insert(a.rules_.end(), b.rules_.begin(), b.rules_.end());
    a.memory_ = std::make_shared<Memory>();
    return a;
  }
  bool everything() const { return rules_.empty(); }  // nothing is forbidden
  // Throws where a rule does not fit the sizes. Worked out once for the last sizes asked for:
  // copies of a pattern share that, so that all layers and heads of a model that look alike do the
  // work once. Safe from many threads.
  std::shared_ptr<const ResolvedPattern> resolve(const Extent& extent) const;

  // A rule narrows ranges, clears bytes of a mask that `ask_mask` makes on first use, or narrows to
  // a list of edges.
  struct Rule {
    virtual ~Rule() = default;
    // Takes from `to` what the rule forbids; an Error where it does not fit the sizes.
    virtual void narrow(const Extent& extent, ResolvedPattern& to) const = 0;
  };
  // Of one rule, which may be one from outside the library.
  explicit Pattern(std::shared_ptr<const Rule> rule)
      : rules_{std::move(rule)}, memory_(std::make_shared<Memory>()) {}

 private:
  struct Memory {  // of the last sizes it was worked out for
    std::mutex mutex;
    Extent extent{-1, -1, -1, -1};
    std::shared_ptr<const ResolvedPattern> resolved;
  };
  std::vector<std::shared_ptr<const Rule>> rules_;
  std::shared_ptr<Memory> memory_;  // null: everything
};

// Key j <= query i. With as many keys as queries there is one such pattern; otherwise say which
// corner of the matrix the diagonal starts from: the first query and first key stand together
// (upper left), or the last query and last key do (lower right), as when the queries continue a
// cache of keys.
Pattern causal();
Pattern causal_upper_left();
Pattern causal_lower_right();

// Keys from `before` in front of query i to `after` behind it; -1 is no limit on that side. The
// lower-right form counts from the last query and key.
Pattern window(int64_t before, int64_t after);
Pattern window_lower_right(int64_t before, int64_t after);

// Query i of (b, h) may look at the keys from center - reach to center + reach; center is [B, Tq,
// H]: the window that a model moves itself.
Pattern around(const Tensor& center, double reach);

// Keys at distances that are multiples of `stride`.
Pattern strided(int64_t stride);
// Queries and keys in blocks of `size`: each looks at its own block.
Pattern blocks(int64_t size);
// Sequence b has n[b] keys; n is int32 [B].
Pattern lengths(const Tensor& n);
// Several sequences packed one after the other in one row: sequence s holds the positions
// [starts[s], starts[s + 1]) and looks at itself only. starts is int32, from 0 to T. The second
// form is for keys packed with other lengths than the queries.
Pattern packed(const Tensor& starts);
Pattern packed(const Tensor& query_starts, const Tensor& key_starts);
// Only along edges: edges is int32 [E, 2], rows (query, key), in any order; one that comes twice
// counts once. Kernels then work on the edges alone.
Pattern edges(const Tensor& edges);
// Every query but itself: query i may not look at key i.
Pattern others();
// `who` as it is for n keys, where more than n lie in memory.
Pattern first_keys(const Pattern& who, int64_t n);
// Any boolean mask: int32, broadcast to [B, H, Tq, Tk]; not 0 = may attend.
Pattern allow(const Tensor& mask);

}  // namespace fovea
