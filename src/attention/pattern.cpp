#include "fovea/attention/pattern.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/kernel/attention_edges.h"
#include "fovea/kernel/binary.h"

namespace fovea {
namespace {

void ask_ranges(const Extent& e, ResolvedPattern& to, int64_t batches, int64_t heads) {
  if (to.lo.empty()) {
    to.lo.assign(e.Tq, 0);
    to.hi.assign(e.Tq, static_cast<int32_t>(e.Tk));
  }
  batches = std::max(batches, to.range_batches);
  heads = std::max(heads, to.range_heads);
  if (batches == to.range_batches && heads == to.range_heads) return;
  auto repeat = [&](std::vector<int32_t>& rows) {
    std::vector<int32_t> all(batches * heads * e.Tq);
    for (int64_t b = 0; b < batches; ++b) {
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t from = (b % to.range_batches) * to.range_heads + h % to.range_heads;
        std::copy_n(&rows[from * e.Tq], e.Tq, &all[(b * heads + h) * e.Tq]);
      }
    }
    rows = std::move(all);
  };
  repeat(to.lo);
  repeat(to.hi);
  to.range_batches = batches;
  to.range_heads = heads;
}

// Narrows every range that is kept to f(b, h, i), a pair [lo, hi).
template <class F>
void each_range(const Extent& e, ResolvedPattern& to, int64_t batches, int64_t heads, const F& f) {
  ask_ranges(e, to, batches, heads);
  for (int64_t at = 0; at < static_cast<int64_t>(to.lo.size()); ++at) {
    const int64_t i = at % e.Tq, h = at / e.Tq % to.range_heads, b = at / e.Tq / to.range_heads;
    const auto [lo, hi] = f(b, h, i);
    to.lo[at] = std::max(to.lo[at], static_cast<int32_t>(std::clamp<int64_t>(lo, 0, e.Tk)));
    to.hi[at] = std::min(to.hi[at], static_cast<int32_t>(std::clamp<int64_t>(hi, 0, e.Tk)));
    to.hi[at] = std::max(to.lo[at], to.hi[at]);
  }
}

void ask_mask(const Extent& e, ResolvedPattern& to, int64_t batches, int64_t heads) {
  const int64_t plane = e.Tq * e.Tk;
  if (to.mask.empty()) {
    to.mask_batches = batches;
    to.mask_heads = heads;
    to.mask.assign(batches * heads * plane, 1);
    return;
  }
  batches = std::max(batches, to.mask_batches);
  heads = std::max(heads, to.mask_heads);
  if (batches == to.mask_batches && heads == to.mask_heads) return;
  std::vector<uint8_t> all(batches * heads * plane);
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t from = (b % to.mask_batches) * to.mask_heads + h % to.mask_heads;
      std::copy_n(&to.mask[from * plane], plane, &all[(b * heads + h) * plane]);
    }
  }
  to.mask = std::move(all);
  to.mask_batches = batches;
  to.mask_heads = heads;
}

// Clears the bytes where keep(b, h, i, j) is false.
template <class F>
void each_byte(const Extent& e, ResolvedPattern& to, int64_t batches, int64_t heads,
               const F& keep) {
  ask_mask(e, to, batches, heads);
  uint8_t* at = to.mask.data();
  for (int64_t b = 0; b < to.mask_batches; ++b) {
    for (int64_t h = 0; h < to.mask_heads; ++h) {
      for (int64_t i = 0; i < e.Tq; ++i) {
        for (int64_t j = 0; j < e.Tk; ++j, ++at) {
          if (*at && !keep(b, h, i, j)) *at = 0;
        }
      }
    }
  }
}

// Lists while they are made: one for each query of each set.
struct KeyLists {
  int64_t batches, heads;
  std::vector<std::vector<int32_t>> of;  // [batches * heads * Tq]
};

KeyLists lists_of(const Extent& e, const EdgePattern& from) {
  KeyLists lists{from.batches, from.heads, {}};
  for (int64_t set = 0; set < from.sets(); ++set) {
    for (int64_t i = 0; i < e.Tq; ++i) {
      const auto keys = from.keys_of(set, i, e.Tq);
      lists.of.emplace_back(keys.begin(), keys.end());
    }
  }
  return lists;
}

EdgePattern pattern_of(const Extent& e, const KeyLists& lists) {
  EdgePattern to{.batches = lists.batches, .heads = lists.heads, .offsets = {}, .keys = {}};
  for (int64_t set = 0; set < to.sets(); ++set) {
    int64_t count = 0;
    for (int64_t i = 0; i <= e.Tq; ++i) {
      to.offsets.push_back(count);
      if (i < e.Tq)
        count += static_cast<int64_t>(lists.of[static_cast<size_t>(set * e.Tq + i)].size());
    }
    to.edges = std::max(to.edges, count);
  }
  to.keys.assign(static_cast<size_t>(to.sets() * to.edges), 0);
  for (int64_t set = 0; set < to.sets(); ++set) {
    auto at = to.keys.begin() + set * to.edges;
    for (int64_t i = 0; i < e.Tq; ++i) {
      at = std::ranges::copy(lists.of[static_cast<size_t>(set * e.Tq + i)], at).out;
    }
  }
  return to;
}

// Only these edges from now on; with lists that are there already, those in both.
void narrow_to(const Extent& e, EdgePattern edges, ResolvedPattern& to) {
  if (!to.edges) {
    to.edges = std::move(edges);
    return;
  }
  ResolvedPattern before;
  before.edges = std::move(to.edges);
  const KeyLists from = lists_of(e, edges);
  KeyLists both{std::max(edges.batches, before.edges->batches),
                std::max(edges.heads, before.edges->heads),
                {}};
  for (int64_t b = 0; b < both.batches; ++b) {
    for (int64_t h = 0; h < both.heads; ++h) {
      for (int64_t i = 0; i < e.Tq; ++i) {
        both.of.push_back(from.of[static_cast<size_t>(edges.set(b, h) * e.Tq + i)]);
        std::erase_if(both.of.back(), [&](int32_t j) { return !before.allows(e, b, h, i, j); });
      }
    }
  }
  to.edges = pattern_of(e, both);
}

// Edges that ranges or a mask forbid go; what remains is all there is to say.
void settle_edges(const Extent& e, ResolvedPattern& to) {
  EdgePattern edges = std::move(*to.edges);
  to.edges.reset();
  if (!to.lo.empty() || !to.mask.empty()) {
    const KeyLists from = lists_of(e, edges);
    KeyLists left{std::max({edges.batches, to.range_batches, to.mask_batches}),
                  std::max({edges.heads, to.range_heads, to.mask_heads}),
                  {}};
    for (int64_t b = 0; b < left.batches; ++b) {
      for (int64_t h = 0; h < left.heads; ++h) {
        for (int64_t i = 0; i < e.Tq; ++i) {
          left.of.push_back(from.of[static_cast<size_t>(edges.set(b, h) * e.Tq + i)]);
          std::erase_if(left.of.back(), [&](int32_t j) { return !to.allows(e, b, h, i, j); });
        }
      }
    }
    edges = pattern_of(e, left);
    to = {};
  }
  edges.key_offsets.resize(static_cast<size_t>(edges.sets() * (e.Tk + 1)));
  edges.key_edges.resize(edges.keys.size());
  edges.key_queries.resize(edges.keys.size());
  kernel::edges_by_key(
      {.edges = edges.edges, .offsets = edges.offsets.data(), .keys = edges.keys.data()},
      edges.sets(), e.Tq, e.Tk, edges.key_offsets.data(), edges.key_edges.data(),
      edges.key_queries.data());
  to.edges = std::move(edges);
}

// A rule made of a function, so that each pattern below is one statement.
template <class F>
Pattern rule(F f) {
  struct Made : Pattern::Rule {
    explicit Made(F f) : f(std::move(f)) {}
    void narrow(const Extent& e, ResolvedPattern& to) const override { f(e, to); }
    F f;
  };
  return Pattern(std::make_shared<Made>(std::move(f)));
}

enum class Corner { upper_left, lower_right };

Pattern band(int64_t before, int64_t after, Corner corner) {
  return rule([=](const Extent& e, ResolvedPattern& to) {
    const int64_t shift = corner == Corner::lower_right ? e.Tk - e.Tq : 0;
    each_range(e, to, 1, 1, [&](int64_t, int64_t, int64_t i) {
      return std::pair(before < 0 ? 0 : i + shift - before,
                       after < 0 ? e.Tk : i + shift + after + 1);
    });
  });
}

// Which of the packed sequences each of T positions belongs to.
std::vector<int32_t> owners(const Tensor& starts, int64_t T, const char* what) {
  const auto s = starts.read<int32_t>();
  check(starts.rank() == 1 && s.size() >= 1 && s.front() == 0 && s.back() == T &&
            std::ranges::is_sorted(s),
        "packed: ", what, " starts must rise from 0 to ", T, ", the number of rows");
  std::vector<int32_t> owner(T);
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    std::fill(owner.begin() + s[i], owner.begin() + s[i + 1], static_cast<int32_t>(i));
  }
  return owner;
}

}  // namespace

bool ResolvedPattern::allows(const Extent& e, int64_t b, int64_t h, int64_t i, int64_t j) const {
  if (!lo.empty()) {
    const int64_t at = ((b % range_batches) * range_heads + h % range_heads) * e.Tq + i;
    if (j < lo[at] || j >= hi[at]) return false;
  }
  if (edges) {
    const auto keys = edges->keys_of(edges->set(b, h), i, e.Tq);
    return std::binary_search(keys.begin(), keys.end(), static_cast<int32_t>(j));
  }
  if (mask.empty()) return true;
  return mask[(((b % mask_batches) * mask_heads + h % mask_heads) * e.Tq + i) * e.Tk + j] != 0;
}

std::shared_ptr<const ResolvedPattern> Pattern::resolve(const Extent& extent) const {
  static const auto everything = std::make_shared<const ResolvedPattern>();
  if (rules_.empty()) return everything;
  const std::lock_guard lock(memory_->mutex);
  if (memory_->resolved && memory_->extent == extent) return memory_->resolved;
  auto resolved = std::make_shared<ResolvedPattern>();
  for (const auto& rule : rules_) rule->narrow(extent, *resolved);
  if (resolved->edges) settle_edges(extent, *resolved);
  memory_->extent = extent;
  return memory_->resolved = resolved;
}

ResolvedPattern ResolvedPattern::dense(const Extent& e) const {
  if (!edges) return *this;
  ResolvedPattern to;
  to.mask_batches = edges->batches, to.mask_heads = edges->heads;
  to.mask.assign(static_cast<size_t>(to.mask_batches * to.mask_heads * e.Tq * e.Tk), 0);
  for (int64_t set = 0; set < edges->sets(); ++set) {
    for (int64_t i = 0; i < e.Tq; ++i) {
      for (int32_t j : edges->keys_of(set, i, e.Tq)) {
        to.mask[static_cast<size_t>((set * e.Tq + i) * e.Tk + j)] = 1;
      }
    }
  }
  return to;
}

Pattern causal_upper_left() { return band(-1, 0, Corner::upper_left); }
Pattern causal_lower_right() { return band(-1, 0, Corner::lower_right); }

Pattern causal() {
  return rule([](const Extent& e, ResolvedPattern& to) {
           check(e.Tq == e.Tk, "causal: with ", e.Tq, " queries and ", e.Tk,
                 " keys say causal_upper_left() or causal_lower_right()");
           (void)to;
         }) &
         causal_upper_left();
}

Pattern window(int64_t before, int64_t after) { return band(before, after, Corner::upper_left); }
Pattern window_lower_right(int64_t before, int64_t after) {
  return band(before, after, Corner::lower_right);
}

Pattern around(const Tensor& center, double reach) {
  const Tensor at =
      center.to(Dtype::f64);  // where the windows stand is not something to differentiate
  return rule([at, reach](const Extent& e, ResolvedPattern& to) {
    check(at.shape() == Shape({e.B, e.Tq, e.H}), "around: centers ", at.shape(),
          " must be [batch, queries, heads] = ", Shape{e.B, e.Tq, e.H});
    const auto p = at.read<double>();
    each_range(e, to, e.B, e.H, [&](int64_t b, int64_t h, int64_t i) {
      const double middle = p[(b * e.Tq + i) * e.H + h];
      return std::pair(static_cast<int64_t>(std::ceil(middle - reach)),
                       static_cast<int64_t>(std::floor(middle + reach)) + 1);
    });
  });
}

Pattern strided(int64_t stride) {
  check(stride >= 1, "strided: the stride must be at least 1, got ", stride);
  constexpr int64_t sparse = 16;  // from here on a list of edges is faster than a mask
  return rule([=](const Extent& e, ResolvedPattern& to) {
    if (stride >= sparse) {
      EdgePattern to_come;
      for (int64_t i = 0; i < e.Tq; ++i) {
        to_come.offsets.push_back(static_cast<int64_t>(to_come.keys.size()));
        for (int64_t j = i % stride; j < e.Tk; j += stride) {
          to_come.keys.push_back(static_cast<int32_t>(j));
        }
      }
      to_come.edges = static_cast<int64_t>(to_come.keys.size());
      to_come.offsets.push_back(to_come.edges);
      narrow_to(e, std::move(to_come), to);
      return;
    }
    each_byte(e, to, 1, 1,
              [=](int64_t, int64_t, int64_t i, int64_t j) { return (i - j) % stride == 0; });
  });
}

Pattern blocks(int64_t size) {
  check(size >= 1, "blocks: the size must be at least 1, got ", size);
  return rule([=](const Extent& e, ResolvedPattern& to) {
    each_range(e, to, 1, 1, [=](int64_t, int64_t, int64_t i) {
      return std::pair(i / size * size, (i / size + 1) * size);
    });
  });
}

Pattern lengths(const Tensor& n) {
  check(n.rank() == 1 && n.dtype() == Dtype::i32, "lengths: needs int32 [B], got ", n.dtype(),
        n.shape());
  return rule([n](const Extent& e, ResolvedPattern& to) {
    check(n.dim(0) == e.B, "lengths: ", n.dim(0), " lengths for a batch of ", e.B);
    const auto each = n.read<int32_t>();
    for (int32_t length : each) {
      check(length >= 0 && length <= e.Tk, "lengths: ", length, " is outside [0, ", e.Tk, "]");
    }
    each_range(e, to, e.B, 1, [&](int64_t b, int64_t, int64_t) {
      return std::pair<int64_t, int64_t>(0, each[b]);
    });
  });
}

Pattern packed(const Tensor& query_starts, const Tensor& key_starts) {
  check(query_starts.dim(0) == key_starts.dim(0), "packed: ", query_starts.dim(0) - 1,
        " sequences of queries, ", key_starts.dim(0) - 1, " of keys");
  return rule([query_starts, key_starts](const Extent& e, ResolvedPattern& to) {
    const std::vector<int32_t> owner = owners(query_starts, e.Tq, "query");
    owners(key_starts, e.Tk, "key");
    const auto keys = key_starts.read<int32_t>();
    each_range(e, to, 1, 1, [&](int64_t, int64_t, int64_t i) {
      return std::pair<int64_t, int64_t>(keys[owner[i]], keys[owner[i] + 1]);
    });
  });
}

Pattern packed(const Tensor& starts) { return packed(starts, starts); }

Pattern edges(const Tensor& edges) {
  check(edges.rank() == 2 && edges.dim(1) == 2 && edges.dtype() == Dtype::i32,
        "edges: needs int32 [E, 2], got ", edges.dtype(), edges.shape());
  return rule([edges](const Extent& e, ResolvedPattern& to) {
    const auto pairs = edges.read<int32_t>();
    KeyLists lists{1, 1, std::vector<std::vector<int32_t>>(static_cast<size_t>(e.Tq))};
    for (size_t i = 0; i < pairs.size(); i += 2) {
      const int32_t query = pairs[i], key = pairs[i + 1];
      check(query >= 0 && query < e.Tq && key >= 0 && key < e.Tk, "edges: edge (", query, ", ", key,
            ") is outside ", e.Tq, " queries and ", e.Tk, " keys");
      lists.of[static_cast<size_t>(query)].push_back(key);
    }
    for (auto& keys : lists.of) {
      std::ranges::sort(keys);
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
    narrow_to(e, pattern_of(e, lists), to);
  });
}

Pattern others() {
  return rule([](const Extent& e, ResolvedPattern& to) {
    each_byte(e, to, 1, 1, [](int64_t, int64_t, int64_t i, int64_t j) { return i != j; });
  });
}

Pattern first_keys(const Pattern& who, int64_t n) {
  return rule([who, n](const Extent& e, ResolvedPattern& to) {
    check(n >= 0 && n <= e.Tk, "first_keys: ", n, " of ", e.Tk, " keys");
    const Extent inner{e.B, e.H, e.Tq, n};
    const auto first = who.resolve(inner);
    if (first->edges) {
      narrow_to(e, *first->edges, to);
      return;
    }
    each_range(e, to, first->range_batches, first->range_heads,
               [&](int64_t b, int64_t h, int64_t i) -> std::pair<int64_t, int64_t> {
                 if (first->lo.empty()) return {0, n};
                 const int64_t set =
                     (b % first->range_batches) * first->range_heads + h % first->range_heads;
                 const auto at = static_cast<size_t>(set * e.Tq + i);
                 return {first->lo[at], first->hi[at]};
               });
    if (first->mask.empty()) return;
    each_byte(e, to, first->mask_batches, first->mask_heads,
              [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                return j < n && first->allows(inner, b, h, i, j);
              });
  });
}

Pattern allow(const Tensor& mask) {
  check(mask.dtype() == Dtype::i32, "allow: the mask must be int32, got ", mask.dtype());
  return rule([mask](const Extent& e, ResolvedPattern& to) {
    const Shape full{e.B, e.H, e.Tq, e.Tk};
    check(kernel::broadcast_shape(mask.shape(), full) == full, "allow: a mask ", mask.shape(),
          " does not broadcast to [batch, heads, queries, keys] = ", full);
    // Steps through the mask along each axis of the full shape; 0 where it repeats.
    int64_t step[4], size = 1;
    for (int axis = 3; axis >= 0; --axis) {
      const int at = axis - 4 + mask.rank();
      const int64_t dim = at >= 0 ? mask.dim(at) : 1;
      step[axis] = dim == 1 ? 0 : size;
      size *= dim;
    }
    const auto set = mask.read<int32_t>();
    each_byte(e, to, step[0] ? e.B : 1, step[1] ? e.H : 1,
              [&](int64_t b, int64_t h, int64_t i, int64_t j) {
                return set[b * step[0] + h * step[1] + i * step[2] + j * step[3]] != 0;
              });
  });
}

}  // namespace fovea
