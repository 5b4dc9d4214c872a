#include "fovea/attention/efficient/sparse.h"

#include <algorithm>

#include "fovea/attention/efficient/spans.h"
#include "fovea/attention/efficient/union.h"

namespace fovea {
namespace {

struct LookedAt {
  Spans s;
  bool causal;
  int64_t shift;  // query i stands where key i + shift does

  LookedAt(const AttentionInputs& in, const std::string& name) : s(spans_of(in, name)) {
    const auto all = stretches_of(s, in.q.dim(0), name);
    causal = s.Tq < s.Tk || std::ranges::any_of(all, [](const Stretch& x) { return x.causal; });
    shift = s.Tk - s.Tq;
  }
  KeySet set() const {
    KeySet k;
    k.range_batches = s.batches;
    k.lo.resize(s.lo.size()), k.hi.resize(s.lo.size());
    return k;
  }
  // f(place in the lists of ranges, where the query stands, its first and last key).
  template <class F>
  void each(const F& f) const {
    for (size_t at = 0; at < s.lo.size(); ++at) {
      f(at, static_cast<int64_t>(at) % s.Tq + shift, s.lo[at], s.hi[at]);
    }
  }
};

void put(KeySet& set, size_t at, int64_t lo, int64_t hi) {
  set.lo[at] = static_cast<int32_t>(lo);
  set.hi[at] = static_cast<int32_t>(std::max(lo, hi));
}

// Rows one residue after the other: 0, l, 2 l, ..., 1, l + 1, ...
struct Residues {
  int64_t l, T;
  int64_t begin(int64_t r) const { return T / l * r + std::min(r, T % l); }
  // How many rows of residue r come before row j.
  static int64_t before(int64_t j, int64_t r, int64_t l) {
    return j <= r ? 0 : (j - r - 1) / l + 1;
  }
  int64_t place(int64_t j) const { return begin(j % l) + j / l; }
};

std::vector<KeySet> strided_sets(const LookedAt& c, int64_t l) {
  KeySet near = c.set(), earlier = c.set(), later = c.set();
  const Residues rows{l, c.s.Tk};
  for (int64_t r = 0; r < std::min(l, c.s.Tk); ++r) {
    for (int64_t j = r; j < c.s.Tk; j += l) earlier.keys.push_back(static_cast<int32_t>(j));
  }
  // All queries at once stand in the same order, which keeps their ranges side by side.
  const bool whole = c.s.Tq == c.s.Tk;
  if (whole) earlier.queries = earlier.keys;
  later.keys = earlier.keys, later.queries = earlier.queries;
  c.each([&](size_t at, int64_t i, int64_t lo, int64_t hi) {
    put(near, at, std::max(lo, i - l), std::min(hi, i + l + 1));
    const int64_t r = i % l, from = rows.begin(r);
    const size_t to =
        whole ? at - at % static_cast<size_t>(c.s.Tq) + static_cast<size_t>(rows.place(i)) : at;
    const int64_t first = from + Residues::before(lo, r, l),
                  last = from + Residues::before(hi, r, l);
    // Those one step away are near.
    put(earlier, to, std::min(first, last), std::min(last, from + i / l - 1));
    put(later, to, std::max(first, from + i / l + 2), last);
    if (earlier.hi[to] < earlier.lo[to]) earlier.hi[to] = earlier.lo[to];
  });
  if (c.causal) return {std::move(near), std::move(earlier)};
  return {std::move(near), std::move(earlier), std::move(later)};
}

std::vector<KeySet> fixed_sets(const LookedAt& c, int64_t l, int64_t wanted) {
  KeySet own = c.set(), earlier = c.set(), later = c.set();
  const int64_t columns = std::min(wanted, l);
  // Of sequences that are packed in a row each has blocks of its own.
  std::vector<int64_t> start(static_cast<size_t>(c.s.Tk), c.s.lo.empty() ? 0 : c.s.lo[0]);
  for (int64_t j = 0; j < c.s.Tk && c.s.Tq == c.s.Tk; ++j) {
    start[static_cast<size_t>(j)] = c.s.lo[static_cast<size_t>(j)];
  }
  std::vector<int64_t> before{0};  // summary tokens in front of each row
  for (int64_t j = 0; j < c.s.Tk; ++j) {
    const bool summary = (j - start[static_cast<size_t>(j)]) % l >= l - columns;
    if (summary) earlier.keys.push_back(static_cast<int32_t>(j));
    before.push_back(before.back() + summary);
  }
  if (earlier.keys.empty()) earlier.keys.push_back(-1);
  later.keys = earlier.keys;
  c.each([&](size_t at, int64_t i, int64_t lo, int64_t hi) {
    const int64_t begin = lo + (i - lo) / l * l, end = std::min(begin + l, hi);
    const auto count = [&](int64_t j) { return before[static_cast<size_t>(j)]; };
    put(own, at, begin, end);
    put(earlier, at, count(lo), count(std::clamp(begin, lo, std::max(lo, hi))));
    put(later, at, count(std::max(lo, end)), count(hi));
  });
  if (c.causal) return {std::move(own), std::move(earlier)};
  return {std::move(own), std::move(earlier), std::move(later)};
}

}  // namespace

SelfAttention strided_self_attention(const SparseOptions& o) {
  SelfAttention self;
  self.attend = [l = o.block](const AttentionInputs& in) {
    return with_weights(in, "sparse_strided", [l](const AttentionInputs& at) {
      return attend_union(at, strided_sets(LookedAt(at, "sparse_strided"), l));
    });
  };
  return self;
}

SelfAttention fixed_self_attention(const SparseOptions& o) {
  SelfAttention self;
  self.attend = [o](const AttentionInputs& in) {
    return with_weights(in, "sparse_fixed", [o](const AttentionInputs& at) {
      return attend_union(at, fixed_sets(LookedAt(at, "sparse_fixed"), o.block, o.summary_tokens));
    });
  };
  return self;
}

}  // namespace fovea
