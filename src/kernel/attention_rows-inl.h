// What the passes of attention_rows.h share: a block's rows of scores and weights. Included once
// for each target.
#if defined(FOVEA_KERNEL_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ATTENTION_ROWS_INL_H_
#undef FOVEA_KERNEL_ATTENTION_ROWS_INL_H_
#else
#define FOVEA_KERNEL_ATTENTION_ROWS_INL_H_
#endif

#include "fovea/kernel/gemm.h"
#include "fovea/kernel/rows_align-inl.h"
#include "fovea/kernel/rows_plan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// s = map(s) for n scores; slope, when not null, gets the derivative.
inline void map_scores(ScoreMap map, float* s, float* slope, int64_t n) {
  const D d;
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  for (int64_t j = 0; j < n; j += lanes) {
    const V x = hn::Load(d, s + j);
    V y = x, dy = one;
    switch (map) {
      case ScoreMap::none:
        break;
      case ScoreMap::tanh:
        y = tanh_of(d, x);
        dy = hn::NegMulAdd(y, y, one);
        break;
      case ScoreMap::sigmoid:
        y = sigmoid_of(d, x);
        dy = hn::NegMulAdd(y, y, y);
        break;
      case ScoreMap::relu:
        y = hn::Max(zero, x);
        dy = hn::IfThenElseZero(hn::Gt(x, zero), one);
        break;
      case ScoreMap::leaky_relu:
        dy = leaky_slope_of(d, x);
        y = hn::Mul(x, dy);
        break;
      case ScoreMap::distance: {
        // Of the square; not quite the root where it is 0, so that the slope stays finite.
        const V root = hn::Sqrt(hn::Add(x, hn::Set(d, 1e-12f)));
        y = hn::Neg(root);
        dy = hn::Div(hn::Set(d, -0.5f), root);
        break;
      }
    }
    hn::Store(y, d, s + j);
    if (slope) hn::Store(dy, d, slope + j);
  }
}

// Bias, mask and range of row r; whatever may not be attended, and the padding, becomes -inf.
inline void limit_scores(const HeadInputs<float>& in, const RowsBlock& at, int64_t r, float* s) {
  const D d;
  const int64_t i = at.first + r;
  const int64_t lo = std::clamp(in.lo(at.b, at.h, i) - at.lo, int64_t{0}, at.n);
  const int64_t hi = std::clamp(in.hi(at.b, at.h, i) - at.lo, lo, at.n);
  if (in.bias) {
    const float* bias = in.bias.at(at.b, at.h) + i * in.bias.row + at.lo;
    map2(Plus{}, s + lo, s + lo, bias + lo, hi - lo);
  }
  if (in.mask) {
    const uint8_t* may = in.mask.at(at.b, at.h) + i * in.mask.row + at.lo;
    const hn::Rebind<uint8_t, D> bytes;
    const hn::RebindToSigned<D> ints;
    int64_t j = lo;
    for (; j + lanes <= hi; j += lanes) {
      const auto no = hn::Eq(hn::PromoteTo(ints, hn::LoadU(bytes, may + j)), hn::Zero(ints));
      const V masked = hn::Set(d, minus_infinity);
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, no), masked, hn::LoadU(d, s + j)), d, s + j);
    }
    for (; j < hi; ++j) {
      if (!may[j]) s[j] = minus_infinity;
    }
  }
  std::fill(s, s + lo, minus_infinity);
  std::fill(s + hi, s + at.padded, minus_infinity);
}

struct RowsAffine {
  float factor, shift;
  V operator()(D d, V x) const { return hn::MulAdd(hn::Set(d, factor), x, hn::Set(d, shift)); }
};

// Working memory of one block.
struct RowsTile {
  float* s;       // [block, ld]: scores, then weights
  float* a;       // [block, features]: prepared queries of an additive score
  float* bell;    // [ld]
  uint8_t* dead;  // [block]: rows of a given alignment whose scores are all -inf

  static int64_t bytes(const RowsPlan& plan) {
    return Scratch::bytes<float>(plan.block * plan.ld) +
           Scratch::bytes<float>(plan.block * plan.features) + Scratch::bytes<float>(plan.ld) +
           Scratch::bytes<uint8_t>(plan.block);
  }
  RowsTile(const RowsPlan& plan, Scratch& scratch)
      : s(scratch.take<float>(plan.block * plan.ld)),
        a(scratch.take<float>(plan.block * plan.features)),
        bell(scratch.take<float>(plan.ld)),
        dead(scratch.take<uint8_t>(plan.block)) {}
};

// tile.s = scores of the block; slope (may be null): [block, ld], the derivatives of a product's
// map.
inline void score_block(const RowsPlan& plan, const RowsBlock& at, const RowsTile& tile,
                        float* slope) {
  const HeadInputs<float>& in = plan.in.base;
  const int64_t g = in.key_head(at.h);
  const float* q = in.q.at(at.b, at.h) + at.first * in.q.row;
  if (plan.pairwise) {
    const AdditiveForm form = plan.form(at.b, g);
    const int64_t whole = round_up(at.rows, rows_group);
    for (int64_t r = 0; r < at.rows; ++r) {
      form.prepare(tile.a + r * plan.features, q + r * in.q.row, in.D, plan.features);
    }
    std::fill(tile.a + at.rows * plan.features, tile.a + whole * plan.features, 1.0f);
    const float* keys = plan.across + (at.b * in.Hk + g) * in.D * plan.key_ld + at.lo;
    form.with_act([&](const auto& act) {
      additive_block(act, whole, at.padded, in.D, plan.w, tile.a, plan.features, keys, plan.key_ld,
                     tile.s, plan.ld);
    });
    if (form.exponent != 0) {
      for (int64_t r = 0; r < at.rows; ++r) {
        float* s = tile.s + r * plan.ld;
        map1(RowsAffine{form.c1, form.c0 * plan.w_sum}, s, s, at.padded);
      }
    }
  } else {
    gemm_serial({.transpose_b = true,
                 .m = at.rows,
                 .n = at.n,
                 .k = in.D,
                 .lda = in.q.row,
                 .ldb = in.k.row,
                 .ldc = plan.ld,
                 .alpha = in.scale},
                q, in.k.at(at.b, g) + at.lo * in.k.row, tile.s);
  }
  for (int64_t r = 0; r < at.rows; ++r) {
    float* s = tile.s + r * plan.ld;
    if (!plan.in.w && plan.in.map != ScoreMap::none) {
      map_scores(plan.in.map, s, slope ? slope + r * plan.ld : nullptr, at.padded);
    }
    limit_scores(in, at, r, s);
  }
}

// Row r of tile.s from scores to weights, local ones still without their bell. Returns lse, 0 where
// an alignment has none.
inline float align_row(const RowsPlan& plan, const RowsBlock& at, const RowsTile& tile, int64_t r) {
  float* s = tile.s + r * plan.ld;
  switch (plan.in.align) {
    case RowAlign::softmax:
    case RowAlign::local:
      return softmax_row(s, at.padded);
    case RowAlign::sigmoid:
      sigmoid_row(s, at.padded);
      return 0;
    case RowAlign::entmax:
      entmax_row(plan.in.alpha, s, at.padded);
      return 0;
    case RowAlign::given:
      return 0;  // align_given has done it
  }
  return 0;
}

// All rows of tile.s from scores to weights.
inline void align_given(const RowsPlan& plan, const RowsBlock& at, const RowsTile& tile) {
  if (at.n == 0) return;
  for (int64_t r = 0; r < at.rows; ++r) {
    tile.dead[r] = all_forbidden(tile.s + r * plan.ld, at.padded);
  }
  plan.in.given.forward(plan.in.given.self, tile.s, at.rows, plan.ld, at.padded);
  for (int64_t r = 0; r < at.rows; ++r) {
    if (tile.dead[r]) std::fill_n(tile.s + r * plan.ld, at.padded, 0.0f);
  }
}

inline double center_of(const RowsPlan& plan, const RowsBlock& at, int64_t r) {
  const HeadView<const double>& p = plan.in.centers;
  return p.at(at.b, at.h)[(at.first + r) * p.row];
}

// tile.s = weights of the block; lse of its rows when not null.
inline void weigh_block(const RowsPlan& plan, const RowsBlock& at, const RowsTile& tile,
                        float* lse) {
  score_block(plan, at, tile, nullptr);
  if (plan.in.align == RowAlign::given) align_given(plan, at, tile);
  for (int64_t r = 0; r < at.rows; ++r) {
    const float l = align_row(plan, at, tile, r);
    if (lse) lse[r] = l;
    if (plan.in.align != RowAlign::local) continue;
    float* s = tile.s + r * plan.ld;
    bell_row(tile.bell, at.padded, at.lo, center_of(plan, at, r), plan.in.sigma);
    map2(Times{}, s, s, tile.bell, at.padded);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ATTENTION_ROWS_INL_H_
