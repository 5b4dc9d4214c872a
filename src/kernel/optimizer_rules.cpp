#include "fovea/kernel/optimizer_rules.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/optimizer_rules.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

inline V all(double x) { return hn::Set(D(), static_cast<float>(x)); }
inline V mean(V m, V x, V take) { return hn::MulAdd(take, hn::Sub(x, m), m); }

// Each rule gives how far the weight goes for the gradient d, and the new values of its arrays.
struct Adam {
  explicit Adam(const RuleStep& s)
      : take1(all(1 - s.beta1)),
        take2(all(1 - s.beta2)),
        rate(all(s.rate / s.fix1)),
        unbias(all(1 / s.fix2)),
        eps(all(s.eps)) {}
  V operator()(V d, V& m, V& v) const {
    m = mean(m, d, take1);
    v = mean(v, hn::Mul(d, d), take2);
    return hn::Div(hn::Mul(rate, m), hn::Add(hn::Sqrt(hn::Mul(v, unbias)), eps));
  }
  V take1, take2, rate, unbias, eps;
};

struct Sgd {
  explicit Sgd(const RuleStep& s) : rate(all(s.rate)), momentum(all(s.momentum)) {}
  V operator()(V d, V& velocity, V&) const {
    velocity = hn::MulAdd(momentum, velocity, d);
    return hn::Mul(rate, velocity);
  }
  V rate, momentum;
};

struct Adadelta {
  explicit Adadelta(const RuleStep& s) : take(all(1 - s.rho)), rate(all(s.rate)), eps(all(s.eps)) {}
  V operator()(V d, V& square, V& change) const {
    square = mean(square, hn::Mul(d, d), take);
    const V x = hn::Mul(hn::Div(hn::Sqrt(hn::Add(change, eps)), hn::Sqrt(hn::Add(square, eps))), d);
    change = mean(change, hn::Mul(x, x), take);
    return hn::Mul(rate, x);
  }
  V take, rate, eps;
};

template <bool centred>
struct Rmsprop {
  explicit Rmsprop(const RuleStep& s) : take(all(1 - s.rho)), rate(all(s.rate)), eps(all(s.eps)) {}
  V operator()(V d, V& square, V& middle) const {
    square = mean(square, hn::Mul(d, d), take);
    V variance = square;
    if constexpr (centred) {
      middle = mean(middle, d, take);
      variance = hn::Max(hn::Zero(D()), hn::NegMulAdd(middle, middle, square));
    }
    return hn::Div(hn::Mul(rate, d), hn::Add(hn::Sqrt(variance), eps));
  }
  V take, rate, eps;
};

template <int arrays, class F>
void walk(const F& f, const RuleStep& s, float* w, float* const* a, const float* g, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V l2 = all(s.l2), decay = all(s.decay);
  const auto next = [&](V wi, V gi, V& a0, V& a1) {
    const V change = f(hn::MulAdd(l2, wi, gi), a0, a1);
    return hn::Sub(wi, hn::MulAdd(decay, wi, change));
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    V a0 = hn::LoadU(d, a[0] + i), a1 = arrays > 1 ? hn::LoadU(d, a[1] + i) : a0;
    hn::StoreU(next(hn::LoadU(d, w + i), hn::LoadU(d, g + i), a0, a1), d, w + i);
    hn::StoreU(a0, d, a[0] + i);
    if (arrays > 1) hn::StoreU(a1, d, a[1] + i);
  }
  if (const int64_t rest = n - i; rest > 0) {
    V a0 = load_part(d, a[0] + i, rest), a1 = arrays > 1 ? load_part(d, a[1] + i, rest) : a0;
    store_part(next(load_part(d, w + i, rest), load_part(d, g + i, rest), a0, a1), d, w + i, rest);
    store_part(a0, d, a[0] + i, rest);
    if (arrays > 1) store_part(a1, d, a[1] + i, rest);
  }
}

void update_part(Rule rule, const RuleStep& s, float* w, float* const* a, const float* g,
                 int64_t n) {
  switch (rule) {
    case Rule::adam:
      return walk<rule_arrays(Rule::adam)>(Adam(s), s, w, a, g, n);
    case Rule::sgd:
      return walk<rule_arrays(Rule::sgd)>(Sgd(s), s, w, a, g, n);
    case Rule::adadelta:
      return walk<rule_arrays(Rule::adadelta)>(Adadelta(s), s, w, a, g, n);
    case Rule::rmsprop:
      return walk<rule_arrays(Rule::rmsprop)>(Rmsprop<false>(s), s, w, a, g, n);
    case Rule::rmsprop_centred:
      return walk<rule_arrays(Rule::rmsprop_centred)>(Rmsprop<true>(s), s, w, a, g, n);
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(update_part);

void update(Rule rule, const RuleStep& step, float* w, float* const* a, const float* g, int64_t n) {
  parallel_for(n, light_grain, [&](int64_t begin, int64_t end) {
    float* const part[2] = {a[0] + begin, rule_arrays(rule) > 1 ? a[1] + begin : nullptr};
    FOVEA_DISPATCH(update_part)(rule, step, w + begin, part, g + begin, end - begin);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
