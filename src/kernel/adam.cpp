#include "fovea/kernel/adam.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/adam.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

void adam_part(const AdamStep& s, float* w, float* m, float* v, const float* g, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V a1 = hn::Set(d, static_cast<float>(1 - s.beta1));
  const V a2 = hn::Set(d, static_cast<float>(1 - s.beta2));
  const V rate = hn::Set(d, static_cast<float>(s.rate / s.fix1));
  const V unbias = hn::Set(d, static_cast<float>(1 / s.fix2));
  const V eps = hn::Set(d, static_cast<float>(s.eps)),
          decay = hn::Set(d, static_cast<float>(s.decay));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V gi = hn::LoadU(d, g + i), wi = hn::LoadU(d, w + i);
    V mi = hn::LoadU(d, m + i), vi = hn::LoadU(d, v + i);
    mi = hn::MulAdd(a1, hn::Sub(gi, mi), mi);
    vi = hn::MulAdd(a2, hn::Sub(hn::Mul(gi, gi), vi), vi);
    const V scale = hn::Add(hn::Sqrt(hn::Mul(vi, unbias)), eps);
    const V step = hn::MulAdd(decay, wi, hn::Div(hn::Mul(rate, mi), scale));
    hn::StoreU(mi, d, m + i);
    hn::StoreU(vi, d, v + i);
    hn::StoreU(hn::Sub(wi, step), d, w + i);
  }
  naive::adam(s, w + i, m + i, v + i, g + i, n - i);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(adam_part);

void adam(const AdamStep& step, float* w, float* m, float* v, const float* g, int64_t n) {
  parallel_for(n, light_grain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(adam_part)
    (step, w + begin, m + begin, v + begin, g + begin, end - begin);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
