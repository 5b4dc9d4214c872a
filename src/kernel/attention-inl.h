// The pieces that fused attention is made of beside products: which keys a query reaches, and what
// happens to a row of scores. Included once for each target.
#if defined(FOVEA_KERNEL_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ATTENTION_INL_H_
#undef FOVEA_KERNEL_ATTENTION_INL_H_
#else
#define FOVEA_KERNEL_ATTENTION_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>

#include "fovea/kernel/attention.h"
#include "fovea/kernel/math-inl.h"
#include "fovea/kernel/product-inl.h"
#include "fovea/kernel/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr float log2_e = 1.44269504089f;
constexpr float ln_2 = 0.69314718056f;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
// Stands in for "no score yet": finite, so that -inf minus it is -inf and never NaN.
constexpr float floor_score = -1e30f;

// The keys that some query of a set may attend, and those that every one of them may.
struct Reach {
  int64_t lo = std::numeric_limits<int64_t>::max(), hi = 0;
  int64_t all_lo = 0, all_hi = std::numeric_limits<int64_t>::max();
  void add(int64_t l, int64_t h) {
    all_lo = std::max(all_lo, l);
    all_hi = std::min(all_hi, h);
    if (l >= h) return;
    lo = std::min(lo, l);
    hi = std::max(hi, h);
  }
  bool empty() const { return lo >= hi; }
  bool meets(int64_t from, int64_t to) const { return !empty() && lo < to && hi > from; }
};

// Scores are kept times log2(e), so that the exponential is a power of two. Adds bias and mask of
// one query to its scores for the keys [first, last); s[0] belongs to key `first`.
inline void add_bias_and_mask(const HeadInputs<float>& in, int64_t b, int64_t h, int64_t i,
                              int64_t first, int64_t last, float* s) {
  const D d;
  const int64_t n = last - first;
  if (in.bias) {
    const float* bias = in.bias.at(b, h) + i * in.bias.row + first;
    const V unit = hn::Set(d, log2_e);
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      hn::StoreU(hn::MulAdd(hn::LoadU(d, bias + j), unit, hn::LoadU(d, s + j)), d, s + j);
    }
    for (; j < n; ++j) s[j] += bias[j] * log2_e;
  }
  if (in.mask) {
    const uint8_t* may = in.mask.at(b, h) + i * in.mask.row + first;
    const hn::Rebind<uint8_t, D> bytes;
    const hn::RebindToSigned<D> ints;
    int64_t j = 0;
    for (; j + lanes <= n; j += lanes) {
      const auto no = hn::Eq(hn::PromoteTo(ints, hn::LoadU(bytes, may + j)), hn::Zero(ints));
      const V masked = hn::Set(d, minus_infinity);
      hn::StoreU(hn::IfThenElse(hn::RebindMask(d, no), masked, hn::LoadU(d, s + j)), d, s + j);
    }
    for (; j < n; ++j) {
      if (!may[j]) s[j] = minus_infinity;
    }
  }
}

// The vector twin of dropout_bits: all ones in the lanes that stay.
template <class Tag>
HWY_INLINE hn::Mask<Tag> dropout_keeps(Tag d, hn::Vec<hn::RebindToUnsigned<Tag>> mixed,
                                       uint32_t threshold) {
  const hn::RebindToUnsigned<Tag> du;
  const hn::RebindToSigned<Tag> di;
  auto x = mixed;
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(du, 0x7feb352du));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(du, 0x846ca68bu));
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  // Comparing signed after flipping the top bit: older targets have no unsigned comparison.
  const auto top = hn::Set(du, 0x80000000u);
  const auto bits = hn::BitCast(di, hn::Xor(x, top));
  const auto low = hn::Set(di, static_cast<int32_t>(threshold ^ 0x80000000u));
  return hn::RebindMask(d, hn::Not(hn::Lt(bits, low)));
}

// The largest of n scores; n is a multiple of `panel`.
HWY_INLINE float row_maximum(const float* s, int64_t n) {
  const D d;
  V m0 = hn::Load(d, s), m1 = hn::Load(d, s + lanes);
  for (int64_t j = panel; j < n; j += panel) {
    m0 = hn::Max(m0, hn::Load(d, s + j));
    m1 = hn::Max(m1, hn::Load(d, s + j + lanes));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(m0, m1)));
}

// s = 2^(s - top); returns the sum, and on request adds sum s log2(s) to log_sum.
template <bool with_logs>
HWY_INLINE float exponentiate(float* s, int64_t n, float top, float* log_sum = nullptr) {
  const D d;
  const V shift = hn::Set(d, top);
  V total = hn::Zero(d), logs = total;
  for (int64_t j = 0; j < n; j += lanes) {
    const V x = exp2_clamp(d, hn::Sub(hn::Load(d, s + j), shift)), p = exp2_clamped(d, x);
    total = hn::Add(total, p);
    if constexpr (with_logs) logs = hn::MulAdd(p, x, logs);  // of the clamped x: 0 * -inf is NaN
    hn::Store(p, d, s + j);
  }
  if constexpr (with_logs) *log_sum += hn::GetLane(hn::SumOfLanes(d, logs));
  return hn::GetLane(hn::SumOfLanes(d, total));
}

inline void squash(float* s, int64_t n) {
  const D d;
  for (int64_t j = 0; j < n; j += lanes) hn::Store(sigmoid2(d, hn::Load(d, s + j)), d, s + j);
}

// Zero where the hash says so; what stays is scaled once, when the row is finished.
inline void drop(float* s, int64_t n, uint32_t row_key, int64_t first_key, uint32_t threshold) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  const auto key = hn::Set(du, row_key);
  const auto step = hn::Set(du, dropout_key_step);
  auto j = hn::Iota(du, static_cast<uint32_t>(first_key));
  for (int64_t at = 0; at < n; at += lanes) {
    const auto keep = dropout_keeps(d, hn::Xor(key, hn::Mul(j, step)), threshold);
    hn::Store(hn::IfThenElseZero(keep, hn::Load(d, s + at)), d, s + at);
    j = hn::Add(j, hn::Set(du, static_cast<uint32_t>(lanes)));
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ATTENTION_INL_H_
