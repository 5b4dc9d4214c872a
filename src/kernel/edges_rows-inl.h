// What attention along edges does to rows of features that lie anywhere: products of one row with
// many, and sums of many rows. Numbers of edges lie edge by edge, the heads of an edge side by
// side, since all heads of a node's row are read at once. Included once for each target.
#if defined(FOVEA_KERNEL_EDGES_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_EDGES_ROWS_INL_H_
#undef FOVEA_KERNEL_EDGES_ROWS_INL_H_
#else
#define FOVEA_KERNEL_EDGES_ROWS_INL_H_
#endif

#include "fovea/kernel/attention-inl.h"
#include "fovea/kernel/attention_edges.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// Vectors of heads, and of features of small heads: eight of each is what most models have.
using Eight = hn::CappedTag<float, 8>;
constexpr int64_t eight = lanes < 8 ? lanes : 8;
using Four = hn::CappedTag<float, 4>;
using One = hn::CappedTag<float, 1>;

// Calls f(tag, place) for pieces that cover n numbers, from the widest vectors down.
template <class F>
HWY_INLINE void in_pieces(int64_t n, const F& f) {
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(D(), i);
  if constexpr (lanes > 8) {
    for (; i + 8 <= n; i += 8) f(Eight(), i);
  }
  if constexpr (lanes > 4) {
    for (; i + 4 <= n; i += 4) f(Four(), i);
  }
  for (; i < n; ++i) f(One(), i);
}

// Rows are often shorter than a vector, where map1 and map2 are slow.
HWY_INLINE void copy_short(float* y, const float* x, int64_t n, float times = 1) {
  in_pieces(n, [&](auto d, int64_t i) {
    hn::StoreU(hn::Mul(hn::Set(d, times), hn::LoadU(d, x + i)), d, y + i);
  });
}
HWY_INLINE void add_short(float* y, const float* x, int64_t n) {
  in_pieces(n, [&](auto d, int64_t i) {
    hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  });
}
HWY_INLINE void multiply_short(float* y, const float* x, int64_t n) {
  in_pieces(n, [&](auto d, int64_t i) {
    hn::StoreU(hn::Mul(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  });
}

// Rows of some heads: that of edge e begins at at(e), its head h at at(e) + heads[h].
struct EdgeRows {
  const float* data = nullptr;
  int64_t row = 0;
  const int64_t* heads = nullptr;
  const int32_t* index = nullptr;  // none: rows follow one another
  int64_t known = 0;               // how many numbers index has
  bool flat = false;               // the heads lie side by side
  static constexpr int64_t ahead = 12;

  const float* at(int64_t e) const { return data + (index ? index[e] : e) * row; }
  // Rows lie anywhere, so nobody but us can know which one comes soon.
  HWY_INLINE void fetch(int64_t e, int64_t floats) const {
    constexpr int64_t line = 16;
    if (!index || e + ahead >= known) return;
    const float* soon = at(e + ahead);
    for (int64_t f = 0; f < floats; f += line) hwy::Prefetch(soon + f);
  }
  EdgeRows from(int64_t e) const {
    EdgeRows rest = *this;
    if (index) {
      rest.index += e;
      rest.known -= e;
    } else {
      rest.data += e * row;
    }
    return rest;
  }
};

HWY_INLINE float dot_of(const float* a, const float* b, int64_t n) {
  const D d;
  V sum = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    sum = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
  }
  float total = i > 0 ? hn::GetLane(hn::SumOfLanes(d, sum)) : 0.0f;
  in_pieces(n - i, [&](auto tag, int64_t f) {
    const auto part = hn::Mul(hn::LoadU(tag, a + i + f), hn::LoadU(tag, b + i + f));
    total += hn::GetLane(hn::SumOfLanes(tag, part));
  });
  return total;
}

#if HWY_MAX_BYTES >= 32
// Eight heads of few features, a multiple of 8: their sums over lanes are put together in three
// steps instead of three for each.
constexpr bool sums_by_eight = true;
HWY_INLINE void dots_by_eight(const float* own, const float* x, const int64_t* heads,
                              int64_t features, float* to) {
  const Eight d;
  const hn::Repartition<double, Eight> pairs;
  hn::Vec<Eight> p[8];
  FOVEA_UNROLL for (int h = 0; h < 8; ++h) {
    p[h] = hn::Mul(hn::LoadU(d, own + h * features), hn::LoadU(d, x + heads[h]));
    for (int64_t f = 8; f < features; f += 8) {
      p[h] = hn::MulAdd(hn::LoadU(d, own + h * features + f), hn::LoadU(d, x + heads[h] + f), p[h]);
    }
  }
  FOVEA_UNROLL for (int h = 0; h < 8; h += 2) {
    p[h] = hn::Add(hn::InterleaveLower(d, p[h], p[h + 1]), hn::InterleaveUpper(d, p[h], p[h + 1]));
  }
  FOVEA_UNROLL for (int h = 0; h < 8; h += 4) {
    const auto a = hn::BitCast(pairs, p[h]), b = hn::BitCast(pairs, p[h + 2]);
    p[h] = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)),
                   hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)));
  }
  hn::StoreU(hn::Add(hn::ConcatLowerLower(d, p[4], p[0]), hn::ConcatUpperUpper(d, p[4], p[0])), d,
             to);
}
#else
constexpr bool sums_by_eight = false;
HWY_INLINE void dots_by_eight(const float*, const float*, const int64_t*, int64_t, float*) {}
#endif

// s[e, h] = own[h] . rows[e, h], H heads of D numbers; own is packed, rows of s are `stride` apart.
inline void edge_dots(const float* own, const EdgeRows& rows, int64_t n, int64_t H,
                      int64_t features, float* s, int64_t stride) {
  const bool by_eight = sums_by_eight && features % 8 == 0 && features > 0 && features <= 32;
  for (int64_t e = 0; e < n; ++e) {
    rows.fetch(e, H * features);
    const float* x = rows.at(e);
    float* to = s + e * stride;
    int64_t h = 0;
    if (features == 1 && rows.flat) {
      in_pieces(H, [&](auto tag, int64_t f) {
        hn::StoreU(hn::Mul(hn::LoadU(tag, own + f), hn::LoadU(tag, x + f)), tag, to + f);
      });
      h = H;
    }
    for (; by_eight && h + 8 <= H; h += 8) {
      dots_by_eight(own + h * features, x, rows.heads + h, features, to + h);
    }
    for (; h < H; ++h) to[h] = dot_of(own + h * features, x + rows.heads[h], features);
    std::fill(to + H, to + stride, 0.0f);
  }
}

// A vector of features: of which head, where in a row, and where in a packed row.
struct EdgePiece {
  int64_t head, from, to;
  // How many pieces from this one on lie side by side, all of one head [0] or of a head each [1].
  int64_t run[2] = {1, 1};
};

// How rows of H heads of D numbers are cut into vectors.
struct EdgePieces {
  EdgePiece* list = nullptr;  // [H * D] is room enough
  int64_t count[4] = {};      // vectors of `lanes`, 8, 4 and 1 numbers, in this order
  bool flat = false;          // one number a head, side by side

  EdgePieces() = default;
  EdgePieces(EdgePiece* room, const int64_t* heads, bool side_by_side, int64_t H, int64_t features)
      : list(room), flat(features == 1 && side_by_side) {
    const int64_t widths[4] = {lanes, 8, 4, 1};
    int64_t all = 0;
    for (int w = 0; w < 4; ++w) {
      for (int64_t h = 0; h < H; ++h) {
        in_pieces(features, [&](auto tag, int64_t f) {
          const auto width = static_cast<int64_t>(hn::Lanes(tag));
          const bool first = w == 0 || width != lanes;  // where 8 or 4 are `lanes`
          if (width != widths[w] || !first) return;
          list[all++] = EdgePiece{h, heads[h] + f, h * features + f};
          ++count[w];
        });
      }
      find_runs(list + all - count[w], count[w], widths[w]);
    }
  }

 private:
  static void find_runs(EdgePiece* pieces, int64_t n, int64_t width) {
    for (int64_t p = n - 2; p >= 0; --p) {
      if (pieces[p + 1].from != pieces[p].from + width) continue;
      const int64_t step = pieces[p + 1].head - pieces[p].head;
      if (step <= 1) pieces[p].run[step] += pieces[p + 1].run[step];
    }
  }
};

// Coefficients of edges: that of edge e and head h is at(e)[h].
struct EdgeFactors {
  const float* data = nullptr;
  int64_t stride = 0;
  const int32_t* index = nullptr;  // none: in the order of the edges
  const float* at(int64_t e) const { return data + (index ? index[e] : e) * stride; }
  HWY_INLINE void fetch(int64_t e, const EdgeRows& rows) const {
    if (index && e + EdgeRows::ahead < rows.known) hwy::Prefetch(at(e + EdgeRows::ahead));
  }
  EdgeFactors from(int64_t e) const {
    return index ? EdgeFactors{data, stride, index + e}
                 : EdgeFactors{data + e * stride, stride, nullptr};
  }
};

// step: 0 and 1 for a run of that kind, whose places the compiler then knows; -1 for any pieces.
template <int P, int step, class Tag>
HWY_NOINLINE void sum_pieces(Tag d, int64_t n, const EdgeFactors& factors, const EdgeRows& rows,
                             const EdgePiece* pieces, float* HWY_RESTRICT sums, int64_t fetch) {
  hn::Vec<Tag> sum[P];
  constexpr int64_t width = hn::MaxLanes(Tag());
  FOVEA_UNROLL for (int p = 0; p < P; ++p) { sum[p] = hn::LoadU(d, sums + pieces[p].to); }
  for (int64_t e = 0; e < n; ++e) {
    if (fetch > 0) {
      rows.fetch(e, fetch);
      factors.fetch(e, rows);
    }
    const float *x = rows.at(e), *c = factors.at(e);
    if constexpr (step >= 0) x += pieces->from, c += pieces->head;
    FOVEA_UNROLL for (int p = 0; p < P; ++p) {
      const float factor = step >= 0 ? c[p * step] : c[pieces[p].head];
      const float* part = step >= 0 ? x + p * width : x + pieces[p].from;
      sum[p] = hn::MulAdd(hn::Set(d, factor), hn::LoadU(d, part), sum[p]);
    }
  }
  FOVEA_UNROLL for (int p = 0; p < P; ++p) hn::StoreU(sum[p], d, sums + pieces[p].to);
}

template <class Tag>
void sum_some(Tag d, int64_t count, int64_t n, const EdgeFactors& factors, const EdgeRows& rows,
              const EdgePiece* pieces, float* sums, int64_t& fetch) {
  for (int64_t some = 0; count > 0; count -= some, pieces += some, fetch = 0) {
    some = count >= 8 ? 8 : count >= 4 ? 4 : 1;
    const int step = pieces->run[1] >= some ? 1 : pieces->run[0] >= some ? 0 : -1;
    auto sum = some == 8   ? (step == 1   ? sum_pieces<8, 1, Tag>
                              : step == 0 ? sum_pieces<8, 0, Tag>
                                          : sum_pieces<8, -1, Tag>)
               : some == 4 ? (step == 1   ? sum_pieces<4, 1, Tag>
                              : step == 0 ? sum_pieces<4, 0, Tag>
                                          : sum_pieces<4, -1, Tag>)
                           : sum_pieces<1, 0, Tag>;
    sum(d, n, factors, rows, pieces, sums, fetch);
  }
}

// sums[h] += sum_e factors[e, h] rows[e, h]; sums is packed [H, D].
inline void edge_sums(int64_t n, const EdgeFactors& factors, const EdgeRows& rows,
                      const EdgePieces& cut, int64_t H, int64_t features, float* sums) {
  if (cut.flat) {
    for (int64_t e = 0; e < n; ++e) {
      rows.fetch(e, H);
      factors.fetch(e, rows);
      const float *x = rows.at(e), *c = factors.at(e);
      in_pieces(H, [&](auto d, int64_t h) {
        const auto old = hn::LoadU(d, sums + h);
        hn::StoreU(hn::MulAdd(hn::LoadU(d, c + h), hn::LoadU(d, x + h), old), d, sums + h);
      });
    }
    return;
  }
  const EdgePiece* at = cut.list;
  int64_t fetch = H * features;  // once is enough
  sum_some(D(), cut.count[0], n, factors, rows, at, sums, fetch);
  sum_some(Eight(), cut.count[1], n, factors, rows, at += cut.count[0], sums, fetch);
  sum_some(Four(), cut.count[2], n, factors, rows, at += cut.count[1], sums, fetch);
  sum_some(One(), cut.count[3], n, factors, rows, at += cut.count[2], sums, fetch);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_EDGES_ROWS_INL_H_
