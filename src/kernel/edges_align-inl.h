// Alignments of the scores of one query's edges, s[n, stride]: edge by edge, heads side by side.
// With many heads softmax and sigmoid run down the columns; otherwise every head gets a row for
// itself, as all alignments take them. Included once for each target.
#if defined(FOVEA_KERNEL_EDGES_ALIGN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_EDGES_ALIGN_INL_H_
#undef FOVEA_KERNEL_EDGES_ALIGN_INL_H_
#else
#define FOVEA_KERNEL_EDGES_ALIGN_INL_H_
#endif

#include "fovea/kernel/edges_pairs-inl.h"
#include "fovea/kernel/rows_align-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

inline void softmax_columns(float* s, int64_t n, int64_t stride) {
  const Eight d;
  using Vec = hn::Vec<Eight>;
  const Vec unit = hn::Set(d, log2_e), one = hn::Set(d, 1.0f);
  for (int64_t h = 0; h < stride; h += eight) {
    Vec top = hn::Set(d, floor_score);
    for (int64_t e = 0; e < n; ++e) top = hn::Max(top, hn::LoadU(d, s + e * stride + h));
    Vec sum = hn::Zero(d);
    for (int64_t e = 0; e < n; ++e) {
      float* at = s + e * stride + h;
      const Vec p = exp2_nonpositive(d, hn::Mul(unit, hn::Sub(hn::LoadU(d, at), top)));
      sum = hn::Add(sum, p);
      hn::StoreU(p, d, at);
    }
    // Nothing to attend: all is 0 and stays so.
    const Vec share = hn::Div(one, hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), one, sum));
    for (int64_t e = 0; e < n; ++e) {
      float* at = s + e * stride + h;
      hn::StoreU(hn::Mul(share, hn::LoadU(d, at)), d, at);
    }
  }
}

inline void softmax_columns_grad(const float* a, float* g, int64_t n, int64_t stride) {
  const Eight d;
  for (int64_t h = 0; h < stride; h += eight) {
    auto mean = hn::Zero(d);
    for (int64_t e = h; e < h + n * stride; e += stride) {
      mean = hn::MulAdd(hn::LoadU(d, a + e), hn::LoadU(d, g + e), mean);
    }
    for (int64_t e = h; e < h + n * stride; e += stride) {
      hn::StoreU(hn::Mul(hn::LoadU(d, a + e), hn::Sub(hn::LoadU(d, g + e), mean)), d, g + e);
    }
  }
}

struct Squash {
  template <class Tag>
  HWY_INLINE hn::Vec<Tag> operator()(Tag d, hn::Vec<Tag> x) const {
    return sigmoid2(d, hn::Mul(hn::Set(d, log2_e), x));
  }
};

inline void sigmoid_columns(float* s, int64_t n, int64_t stride) {
  map1(Squash(), s, s, n * stride);
}

struct SquashGrad {
  V operator()(D, V a, V g) const { return hn::Mul(hn::NegMulAdd(a, a, a), g); }
};

inline void sigmoid_columns_grad(const float* a, float* g, int64_t n, int64_t stride) {
  map2(SquashGrad(), g, a, g, n * stride);
}

// Between s[n, stride] and a row for every head, ld apart and padded to whole vectors.
inline void columns_to_rows(const float* s, int64_t n, int64_t stride, int64_t H, float padding,
                            float* rows, int64_t ld) {
  for (int64_t h = 0; h < H; ++h) {
    float* row = rows + h * ld;
    for (int64_t e = 0; e < n; ++e) row[e] = s[e * stride + h];
    std::fill(row + n, row + round_up(n, lanes), padding);
  }
}
inline void rows_to_columns(const float* rows, int64_t ld, int64_t n, int64_t stride, int64_t H,
                            float* s) {
  for (int64_t h = 0; h < H; ++h) {
    for (int64_t e = 0; e < n; ++e) s[e * stride + h] = rows[h * ld + e];
  }
}

// s = 0 where dropout takes an edge away, scaled up elsewhere. row_keys: those of the heads.
inline void drop_edges(const WeightDropout& dropout, const uint32_t* row_keys, const int32_t* keys,
                       int64_t n, int64_t stride, int64_t H, float* s) {
  const uint32_t threshold = dropout_threshold(dropout.rate);
  const float scale = 1 / (1 - dropout.rate);
  if (stride % eight == 0) {
    const Eight d;
    const hn::RebindToUnsigned<Eight> du;
    for (int64_t e = 0; e < n; ++e) {
      const auto mixed = hn::Set(du, static_cast<uint32_t>(keys[e]) * dropout_key_step);
      for (int64_t h = 0; h < stride; h += eight) {
        const auto keep = dropout_keeps(d, hn::Xor(hn::LoadU(du, row_keys + h), mixed), threshold);
        float* at = s + e * stride + h;
        hn::StoreU(hn::IfThenElseZero(keep, hn::Mul(hn::LoadU(d, at), hn::Set(d, scale))), d, at);
      }
    }
    return;
  }
  for (int64_t e = 0; e < n; ++e) {
    for (int64_t h = 0; h < H; ++h) {
      float& x = s[e * stride + h];
      x = dropout_bits(row_keys[h], keys[e]) < threshold ? 0 : x * scale;
    }
  }
}

// s = map(s) of a product or of a squared distance, n numbers; slope, when not null, its
// derivative.
template <ScoreMap map>
void map_edges_by(float* s, float* slope, int64_t n) {
  in_pieces(n, [&](auto d, int64_t i) {
    const auto x = hn::LoadU(d, s + i), zero = hn::Zero(d);
    if constexpr (map == ScoreMap::distance) {
      // Not quite the root where it is 0, so that the slope stays finite.
      const auto root = hn::Sqrt(hn::Add(x, hn::Set(d, 1e-12f)));
      if (slope) hn::StoreU(hn::Div(hn::Set(d, -0.5f), root), d, slope + i);
      hn::StoreU(hn::Neg(root), d, s + i);
    } else {
      if (slope) hn::StoreU(PairSlope<map>()(d, x, zero), d, slope + i);
      hn::StoreU(PairValue<map>()(d, x, zero), d, s + i);
    }
  });
}

inline void map_edges(ScoreMap map, float* s, float* slope, int64_t n) {
  switch (map) {
    case ScoreMap::none:
      return;
    case ScoreMap::tanh:
      return map_edges_by<ScoreMap::tanh>(s, slope, n);
    case ScoreMap::sigmoid:
      return map_edges_by<ScoreMap::sigmoid>(s, slope, n);
    case ScoreMap::relu:
      return map_edges_by<ScoreMap::relu>(s, slope, n);
    case ScoreMap::leaky_relu:
      return map_edges_by<ScoreMap::leaky_relu>(s, slope, n);
    case ScoreMap::distance:
      return map_edges_by<ScoreMap::distance>(s, slope, n);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_EDGES_ALIGN_INL_H_
