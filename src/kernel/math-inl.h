// Exponentials for inner loops, as cheap as their error allows. Included once for each target.
#if defined(FOVEA_KERNEL_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_MATH_INL_H_
#undef FOVEA_KERNEL_MATH_INL_H_
#else
#define FOVEA_KERNEL_MATH_INL_H_
#endif

#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// What exp2_clamped needs: below -127 there is only 0. This order of operands lets NaN through on
// x86.
template <class Tag>
HWY_INLINE hn::Vec<Tag> exp2_clamp(Tag d, hn::Vec<Tag> x) {
  return hn::Max(hn::Set(d, -127.0f), x);
}

// 2^x for x in [-127, 0], relative error below 2e-7; exactly 1 at 0 and 0 at -127.
template <class Tag>
HWY_INLINE hn::Vec<Tag> exp2_clamped(Tag d, hn::Vec<Tag> x) {
  using V = hn::Vec<Tag>;
  const hn::RebindToSigned<Tag> di;
  // Adding 1.5 * 2^23 rounds x to the integer that the low bits of the sum then hold.
  const V shifter = hn::Set(d, 12582912.0f);
  const V shifted = hn::Add(x, shifter);
  const V f = hn::Sub(x, hn::Sub(shifted, shifter));  // in [-1/2, 1/2]
  // Minimax for the relative error with the constant fixed at 1.
  V p = hn::MulAdd(hn::Set(d, 1.326472731e-3f), f, hn::Set(d, 9.671512991e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.550733581e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.402224243e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.931470037e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  return hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
}

// 2^x for x <= 0: exactly 0 from -127 down, -inf included, which is what makes a masked score cost
// nothing special. NaN stays NaN.
template <class Tag>
HWY_INLINE hn::Vec<Tag> exp2_nonpositive(Tag d, hn::Vec<Tag> x) {
  return exp2_clamped(d, exp2_clamp(d, x));
}

// 1 / (1 + 2^-x), exactly 0 from -127 down.
template <class Tag>
HWY_INLINE hn::Vec<Tag> sigmoid2(Tag d, hn::Vec<Tag> x) {
  using V = hn::Vec<Tag>;
  const V one = hn::Set(d, 1.0f);
  const V e = exp2_nonpositive(d, hn::Neg(hn::Abs(x)));
  const V upper = hn::Div(one, hn::Add(one, e));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(e, upper), upper);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_MATH_INL_H_
