#include "fovea/attention/pattern.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
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
  if (mask.empty()) return true;
  return mask[(((b % mask_batches) * mask_heads + h % mask_heads) * e.Tq + i) * e.Tk + j] != 0;
}

ResolvedPattern Pattern::resolve(const Extent& extent) const {
  ResolvedPattern resolved;
  for (const auto& rule : rules_) rule->narrow(extent, resolved);
  return resolved;
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
  return rule([=](const Extent& e, ResolvedPattern& to) {
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
    std::vector<uint8_t> linked(e.Tq * e.Tk);
    const auto pairs = edges.read<int32_t>();
    for (size_t i = 0; i < pairs.size(); i += 2) {
      check(pairs[i] >= 0 && pairs[i] < e.Tq && pairs[i + 1] >= 0 && pairs[i + 1] < e.Tk,
            "edges: edge (", pairs[i], ", ", pairs[i + 1], ") is outside ", e.Tq, " queries and ",
            e.Tk, " keys");
      linked[pairs[i] * e.Tk + pairs[i + 1]] = 1;
    }
    each_byte(e, to, 1, 1,
              [&](int64_t, int64_t, int64_t i, int64_t j) { return linked[i * e.Tk + j] != 0; });
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
