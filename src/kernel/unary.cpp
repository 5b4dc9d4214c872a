#include "fovea/kernel/unary.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/unary.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// Each function's value and slope stand together; `a` and `b` as in naive/unary.h.
struct Affine {
  float a, b;
  V operator()(D d, V x) const { return hn::MulAdd(hn::Set(d, a), x, hn::Set(d, b)); }
  V slope(D d, V, V) const { return hn::Set(d, a); }
};
struct Exponential {
  // Highway's Exp promises nothing beyond 104; a float's exponential is infinite from 88.73 on.
  V operator()(D d, V x) const {
    const V most = hn::Set(d, 88.7228f), infinity = hn::Set(d, __builtin_huge_valf());
    return hn::IfThenElse(hn::Gt(x, most), infinity, hn::Exp(d, hn::Min(x, most)));
  }
  V slope(D, V, V y) const { return y; }
};
struct Logarithm {
  V operator()(D d, V x) const {
    const V zero = hn::Zero(d);
    const V y = hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, -__builtin_huge_valf()), hn::Log(d, x));
    return hn::IfThenElse(hn::Lt(x, zero), hn::NaN(d), y);
  }
  V slope(D d, V x, V) const { return hn::Div(hn::Set(d, 1.0f), x); }
};
struct SquareRoot {
  V operator()(D, V x) const { return hn::Sqrt(x); }
  V slope(D d, V, V y) const { return hn::Div(hn::Set(d, 0.5f), y); }
};
struct Square {
  V operator()(D, V x) const { return hn::Mul(x, x); }
  V slope(D, V x, V) const { return hn::Add(x, x); }
};
struct Absolute {
  V operator()(D, V x) const { return hn::Abs(x); }
  V slope(D d, V x, V) const {
    const V sign = hn::CopySign(hn::Set(d, 1.0f), x);
    return hn::IfThenElseZero(hn::Ne(x, hn::Zero(d)), sign);
  }
};
struct Sine {
  V operator()(D d, V x) const { return hn::Sin(d, x); }
  V slope(D d, V x, V) const { return hn::Cos(d, x); }
};
struct Cosine {
  V operator()(D d, V x) const { return hn::Cos(d, x); }
  V slope(D d, V x, V) const { return hn::Neg(hn::Sin(d, x)); }
};
struct Tanh {
  V operator()(D d, V x) const { return tanh_of(d, x); }
  V slope(D d, V, V y) const { return hn::NegMulAdd(y, y, hn::Set(d, 1.0f)); }
};
struct Sigmoid {
  V operator()(D d, V x) const { return sigmoid_of(d, x); }
  V slope(D, V, V y) const { return hn::NegMulAdd(y, y, y); }
};
struct Softplus {
  V operator()(D d, V x) const {
    const V tail = hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(x))));
    return hn::Add(hn::Max(x, hn::Zero(d)), tail);
  }
  V slope(D d, V x, V) const { return sigmoid_of(d, x); }
};
struct LeakyRelu {
  float a;
  V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(hn::Set(d, a), x));
  }
  V slope(D d, V x, V) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f), hn::Set(d, a));
  }
};
struct Elu {
  float a;
  V operator()(D d, V x) const {
    const V below = hn::Mul(hn::Set(d, a), hn::Expm1(d, hn::Min(x, hn::Zero(d))));
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, below);
  }
  V slope(D d, V x, V y) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f), hn::Add(y, hn::Set(d, a)));
  }
};
struct Clamp {
  float a, b;
  V operator()(D d, V x) const { return hn::Min(hn::Max(x, hn::Set(d, a)), hn::Set(d, b)); }
  V slope(D d, V x, V) const {
    const auto inside = hn::And(hn::Ge(x, hn::Set(d, a)), hn::Le(x, hn::Set(d, b)));
    return hn::IfThenElseZero(inside, hn::Set(d, 1.0f));
  }
};

template <class F>
struct SlopeTimes {
  F f;
  V operator()(D d, V dy, V x, V y) const { return hn::Mul(dy, f.slope(d, x, y)); }
};

// Calls then(f) with the functor that `f` names.
template <class Then>
void choose(Unary f, float a, float b, const Then& then) {
  switch (f) {
    case Unary::affine:
      return then(Affine{a, b});
    case Unary::exp:
      return then(Exponential{});
    case Unary::log:
      return then(Logarithm{});
    case Unary::sqrt:
      return then(SquareRoot{});
    case Unary::square:
      return then(Square{});
    case Unary::abs:
      return then(Absolute{});
    case Unary::sin:
      return then(Sine{});
    case Unary::cos:
      return then(Cosine{});
    case Unary::tanh:
      return then(Tanh{});
    case Unary::sigmoid:
      return then(Sigmoid{});
    case Unary::softplus:
      return then(Softplus{});
    case Unary::relu:
      return then(Relu{});
    case Unary::leaky_relu:
      return then(LeakyRelu{a});
    case Unary::elu:
      return then(Elu{a});
    case Unary::gelu:
      return then(Gelu{});
    case Unary::gelu_tanh:
      return then(GeluTanh{});
    case Unary::clamp:
      return then(Clamp{a, b});
  }
}

void unary_part(Unary f, float* y, const float* x, int64_t n, float a, float b) {
  choose(f, a, b, [=](const auto& function) HWY_ATTR { map1(function, y, x, n); });
}

void unary_grad_part(Unary f, float* dx, const float* dy, const float* x, const float* y, int64_t n,
                     float a, float b) {
  choose(f, a, b, [=]<class F>(const F& function) HWY_ATTR {
    map3(SlopeTimes<F>{function}, dx, dy, x, y, n);
  });
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(unary_part);
HWY_EXPORT(unary_grad_part);

static int64_t grain_of(Unary f) { return f == Unary::affine ? light_grain : heavy_grain; }

void unary(Unary f, float* y, const float* x, int64_t n, float a, float b) {
  parallel_for(n, grain_of(f), [=](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(unary_part)(f, y + begin, x + begin, end - begin, a, b);
  });
}

void unary_grad(Unary f, float* dx, const float* dy, const float* x, const float* y, int64_t n,
                float a, float b) {
  parallel_for(n, grain_of(f), [=](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(unary_grad_part)
    (f, dx + begin, dy + begin, x + begin, y + begin, end - begin, a, b);
  });
}

constexpr int64_t plain_grain = 1024;  // a call of the C library takes as long as a vector of ours

void unary(Unary f, double* y, const double* x, int64_t n, double a, double b) {
  parallel_for(n, plain_grain, [=](int64_t begin, int64_t end) {
    naive::unary(f, y + begin, x + begin, end - begin, a, b);
  });
}

void unary_grad(Unary f, double* dx, const double* dy, const double* x, const double* y, int64_t n,
                double a, double b) {
  parallel_for(n, plain_grain, [=](int64_t begin, int64_t end) {
    naive::unary_grad(f, dx + begin, dy + begin, x + begin, y + begin, end - begin, a, b);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
