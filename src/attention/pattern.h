// Who may look at whom. A pattern is a statement, not a matrix of -1e9; statements combine with
// `&`:
//   Pattern who = causal() & window(128, 0) & lengths(n);
// True means "may attend". A query that may attend nothing gets a zero context.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Sizes of one attention call: batch, heads, queries, keys.
struct Extent {
  int64_t B, H, Tq, Tk;
};

// A pattern worked out for given sizes, as kernels take it: for each query a range of keys, and a
// byte for each key where ranges do not suffice. Empty vectors allow everything.
struct ResolvedPattern {
  std::vector<int32_t> lo, hi;  // [range_batches, range_heads, Tq]: keys [lo, hi)
  std::vector<uint8_t> mask;    // [mask_batches, mask_heads, Tq, Tk]: not 0 = may attend
  int64_t range_batches = 1, range_heads = 1, mask_batches = 1, mask_heads = 1;

  bool allows(const Extent& e, int64_t b, int64_t h, int64_t i, int64_t j) const;
};

class Pattern {
 public:
  Pattern() = default;  // everyone may look at everyone

  friend Pattern operator&(Pattern a, const Pattern& b) {
    a.rules_.insert(a.rules_.end(), b.rules_.begin(), b.rules_.end());
    return a;
  }
  bool everything() const { return rules_.empty(); }
  // Throws where a rule does not fit the sizes.
  ResolvedPattern resolve(const Extent& extent) const;

  // A rule narrows ranges, or clears bytes of a mask that `ask_mask` makes on first use.
  struct Rule {
    virtual ~Rule() = default;
    virtual void narrow(const Extent& extent, ResolvedPattern& to) const = 0;
  };
  explicit Pattern(std::shared_ptr<const Rule> rule) : rules_{std::move(rule)} {}

 private:
  std::vector<std::shared_ptr<const Rule>> rules_;
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
// Only along edges: edges is int32 [E, 2], rows (query, key).
Pattern edges(const Tensor& edges);
// Any boolean mask: int32, broadcast to [B, H, Tq, Tk]; not 0 = may attend.
Pattern allow(const Tensor& mask);

}  // namespace fovea
