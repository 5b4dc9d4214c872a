// Vector forms of the functions that activations are made of. Included once for each target.
#if defined(FOVEA_KERNEL_ACTIVATION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FOVEA_KERNEL_ACTIVATION_INL_H_
#undef FOVEA_KERNEL_ACTIVATION_INL_H_
#else
#define FOVEA_KERNEL_ACTIVATION_INL_H_
#endif

#include <hwy/highway.h>
// Highway's math comes after highway.h.
#include <hwy/contrib/math/math-inl.h>

#include "fovea/kernel/math-inl.h"
#include "fovea/kernel/naive/unary.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// Highway's Exp is not defined above 104; e^100 is infinite already. This order of operands lets
// NaN through on x86.
template <class Tag>
HWY_INLINE hn::Vec<Tag> sigmoid_of(Tag d, hn::Vec<Tag> x) {
  using V = hn::Vec<Tag>;
  const V one = hn::Set(d, 1.0f);
  const V e = hn::Exp(d, hn::Min(hn::Set(d, 100.0f), hn::Neg(x)));
  return hn::Div(one, hn::Add(one, e));
}

// Through exp(-2|x|), which cannot overflow; near 0, where 1 - exp loses digits, by its series.
template <class Tag>
HWY_INLINE hn::Vec<Tag> tanh_of(Tag d, hn::Vec<Tag> x) {
  using V = hn::Vec<Tag>;
  const V one = hn::Set(d, 1.0f), size = hn::Abs(x), square = hn::Mul(x, x);
  const V e = hn::Exp(d, hn::Mul(hn::Set(d, -2.0f), size));
  const V far = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
  // x - x^3/3 + 2x^5/15 - 17x^7/315 + 62x^9/2835
  V series = hn::MulAdd(square, hn::Set(d, 62.0f / 2835), hn::Set(d, -17.0f / 315));
  series = hn::MulAdd(square, series, hn::Set(d, 2.0f / 15));
  series = hn::MulAdd(square, series, hn::Set(d, -1.0f / 3));
  const V near = hn::MulAdd(hn::Mul(x, square), series, x);
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.25f)), near, far);
}

// Functions with their slopes, as unary kernels take them; y = f(x).
struct Relu {
  V operator()(D d, V x) const { return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x); }
  V slope(D d, V x, V) const {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
  }
};
struct Gelu {
  // Phi(x) = erfc(-x / sqrt 2) / 2 by Abramowitz and Stegun 7.1.26, absolute error 1.5e-7, from
  // e^(-x^2 / 2).
  static V normal_cdf(D d, V x, V bell) {
    const V one = hn::Set(d, 1.0f);
    const V z = hn::Mul(hn::Abs(x), hn::Set(d, 0.70710678f));
    const V t = hn::Div(one, hn::MulAdd(hn::Set(d, 0.3275911f), z, one));
    V poly = hn::MulAdd(t, hn::Set(d, 1.061405429f), hn::Set(d, -1.453152027f));
    poly = hn::MulAdd(t, poly, hn::Set(d, 1.421413741f));
    poly = hn::MulAdd(t, poly, hn::Set(d, -0.284496736f));
    poly = hn::MulAdd(t, poly, hn::Set(d, 0.254829592f));
    const V tail = hn::Mul(hn::Mul(hn::Set(d, 0.5f), hn::Mul(t, poly)), bell);  // Phi(-|x|)
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
  }
  static V bell_of(D d, V x) {  // by way of 2^y, whose error of 2e-7 is of the same size
    return exp2_nonpositive(d, hn::Mul(hn::Set(d, -0.72134752f), hn::Mul(x, x)));
  }
  V operator()(D d, V x) const { return hn::Mul(x, normal_cdf(d, x, bell_of(d, x))); }
  V slope(D d, V x, V) const {
    const V bell = bell_of(d, x);
    return hn::MulAdd(hn::Mul(x, bell), hn::Set(d, 0.3989422804f), normal_cdf(d, x, bell));
  }
};
struct GeluTanh {
  static V inner_tanh(D d, V x) {
    const V cubic = hn::MulAdd(hn::Mul(hn::Set(d, float{naive::gelu_c1}), x), hn::Mul(x, x), x);
    return tanh_of(d, hn::Mul(hn::Set(d, static_cast<float>(naive::gelu_c0)), cubic));
  }
  V operator()(D d, V x) const {
    const V half = hn::Mul(hn::Set(d, 0.5f), x);
    return hn::MulAdd(half, inner_tanh(d, x), half);
  }
  V slope(D d, V x, V) const {
    const V t = inner_tanh(d, x), one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
    const V c0 = hn::Set(d, static_cast<float>(naive::gelu_c0));
    const V c3 = hn::Set(d, static_cast<float>(3 * naive::gelu_c1));
    const V inner_slope = hn::Mul(c0, hn::MulAdd(c3, hn::Mul(x, x), one));
    const V rise = hn::Mul(hn::Mul(half, x), hn::Mul(hn::NegMulAdd(t, t, one), inner_slope));
    return hn::MulAdd(half, hn::Add(one, t), rise);
  }
};

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FOVEA_KERNEL_ACTIVATION_INL_H_
