// Functions of the features of two nodes: act(a + b) of an additive score, (a - b)^2 of a distance.
// Included once for each target.
#if defined(FOVEA_KERNEL_EDGES_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_EDGES_PAIRS_INL_H_
#undef FOVEA_KERNEL_EDGES_PAIRS_INL_H_
#else
#define FOVEA_KERNEL_EDGES_PAIRS_INL_H_
#endif

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/edges_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

template <ScoreMap map>
struct PairValue {
  template <class Tag>
  HWY_INLINE hn::Vec<Tag> operator()(Tag d, hn::Vec<Tag> a, hn::Vec<Tag> b) const {
    if constexpr (map == ScoreMap::distance) {
      const auto x = hn::Sub(a, b);
      return hn::Mul(x, x);
    } else {
      const auto x = hn::Add(a, b);
      if constexpr (map == ScoreMap::tanh) return tanh_of(d, x);
      if constexpr (map == ScoreMap::sigmoid) return sigmoid_of(d, x);
      if constexpr (map == ScoreMap::relu) return hn::Max(hn::Zero(d), x);
      if constexpr (map == ScoreMap::leaky_relu) {
        return hn::Max(x, hn::Mul(x, hn::Set(d, static_cast<float>(leaky_slope))));
      }
      return x;
    }
  }
};

// Half the slope of a distance, so that it is a difference alone.
template <ScoreMap map>
struct PairSlope {
  template <class Tag>
  HWY_INLINE hn::Vec<Tag> operator()(Tag d, hn::Vec<Tag> a, hn::Vec<Tag> b) const {
    const auto one = hn::Set(d, 1.0f), zero = hn::Zero(d);
    if constexpr (map == ScoreMap::none) return one;
    if constexpr (map == ScoreMap::distance) return hn::Sub(a, b);
    if constexpr (map == ScoreMap::relu) {
      return hn::IfThenElseZero(hn::Gt(hn::Add(a, b), zero), one);
    }
    if constexpr (map == ScoreMap::leaky_relu) {
      const auto low = hn::Set(d, static_cast<float>(leaky_slope));
      return hn::IfThenElse(hn::Gt(hn::Add(a, b), zero), one, low);
    }
    const auto y = PairValue<map>()(d, a, b);
    return hn::NegMulAdd(y, y, map == ScoreMap::tanh ? one : y);
  }
};

template <class Op>
HWY_NOINLINE void pair_rows_by(const Op& op, const float* own, const EdgeRows& rows, int64_t n,
                               int64_t H, int64_t features, float* to) {
  auto some = [&op](const float* a, const float* b, int64_t count, float* y) {
    in_pieces(count, [&](auto d, int64_t i) {
      hn::StoreU(op(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
    });
  };
  for (int64_t e = 0; e < n; ++e, to += H * features) {
    rows.fetch(e, H * features);
    const float* x = rows.at(e);
    if (rows.flat) {
      some(own, x, H * features, to);
    } else {
      for (int64_t h = 0; h < H; ++h)
        some(own + h * features, x + rows.heads[h], features, to + h * features);
    }
  }
}

// to[e, h, d] = f(own[h, d], rows[e, h, d]), packed.
template <template <ScoreMap> class Op>
void pair_rows(ScoreMap map, const float* own, const EdgeRows& rows, int64_t n, int64_t H,
               int64_t features, float* to) {
  switch (map) {
    case ScoreMap::none:
      return pair_rows_by(Op<ScoreMap::none>(), own, rows, n, H, features, to);
    case ScoreMap::tanh:
      return pair_rows_by(Op<ScoreMap::tanh>(), own, rows, n, H, features, to);
    case ScoreMap::sigmoid:
      return pair_rows_by(Op<ScoreMap::sigmoid>(), own, rows, n, H, features, to);
    case ScoreMap::relu:
      return pair_rows_by(Op<ScoreMap::relu>(), own, rows, n, H, features, to);
    case ScoreMap::leaky_relu:
      return pair_rows_by(Op<ScoreMap::leaky_relu>(), own, rows, n, H, features, to);
    case ScoreMap::distance:
      return pair_rows_by(Op<ScoreMap::distance>(), own, rows, n, H, features, to);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_EDGES_PAIRS_INL_H_
