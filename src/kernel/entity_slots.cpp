#include "fovea/kernel/entity_slots.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/entity_slots.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// Loops without a sum are plain: the compiler makes vectors of them, for this target.

void change(const EntitySentence<float>& x, float* next, float* gate, float* scale) {
  const int64_t d = x.d;
  const float* HWY_RESTRICT moved = x.moved;
  const float* HWY_RESTRICT slope = x.slope;
  for (int64_t j = 0; j < x.N; ++j) {
    const float* HWY_RESTRICT h = x.h + j * d;
    const float* HWY_RESTRICT turned = x.turned + j * d;
    const float* HWY_RESTRICT key = x.moved_keys + j * d;
    float* HWY_RESTRICT to = next + j * d;
    const float g = gate[j] = 1 / (1 + std::exp(-x.to_keys[j] - sum_of2(Times{}, x.s, h, d)));
    for (int64_t i = 0; i < d; ++i) {
      const float p = turned[i] + moved[i] + key[i];
      to[i] = h[i] + g * (p > 0 ? p : slope[i] * p);
    }
    const float by = scale[j] =
        1 / std::sqrt(static_cast<float>(naive::entity_floor) + sum_of2(Times{}, to, to, d));
    for (int64_t i = 0; i < d; ++i) to[i] *= by;
  }
}

void change_grad(const EntitySentence<float>& x, const EntityGradient<float>& to,
                 const float* dnext, const float* next, const float* gate, const float* scale) {
  const int64_t d = x.d;
  const float* HWY_RESTRICT moved = x.moved;
  const float* HWY_RESTRICT slope = x.slope;
  const float* HWY_RESTRICT s = x.s;
  float* HWY_RESTRICT ds = to.s;
  float* HWY_RESTRICT dmoved = to.moved;
  float* HWY_RESTRICT dslope = to.slope;
  for (int64_t j = 0; j < x.N; ++j) {
    const float* HWY_RESTRICT h = x.h + j * d;
    const float* HWY_RESTRICT key = x.moved_keys + j * d;
    const float* HWY_RESTRICT y = next + j * d;
    const float* turned = x.turned + j * d;  // dturned may be in its place
    const float* dy = dnext + j * d;         // and dh in this one's
    float* dh = to.h + j * d;
    float* dturned = to.turned + j * d;
    float* HWY_RESTRICT dkey = to.moved_keys + j * d;
    const float along = sum_of2(Times{}, dy, y, d), by = scale[j], g = gate[j];
    const D lanes_of;
    const auto lanes = static_cast<int64_t>(hn::Lanes(lanes_of));
    V dgate = hn::Zero(lanes_of);
    float dgate_rest = 0;
    int64_t i = 0;
    const V vby = hn::Set(lanes_of, by), valong = hn::Set(lanes_of, along),
            vg = hn::Set(lanes_of, g), zero = hn::Zero(lanes_of);
    for (; i + lanes <= d; i += lanes) {
      const V p = hn::Add(hn::Add(hn::LoadU(lanes_of, turned + i), hn::LoadU(lanes_of, moved + i)),
                          hn::LoadU(lanes_of, key + i));
      const V dsum = hn::Mul(
          vby, hn::NegMulAdd(valong, hn::LoadU(lanes_of, y + i), hn::LoadU(lanes_of, dy + i)));
      const V steep = hn::LoadU(lanes_of, slope + i), dcandidate = hn::Mul(vg, dsum);
      const auto above = hn::Gt(p, zero);
      dgate = hn::MulAdd(dsum, hn::IfThenElse(above, p, hn::Mul(steep, p)), dgate);
      const V dp = hn::IfThenElse(above, dcandidate, hn::Mul(steep, dcandidate));
      hn::StoreU(dsum, lanes_of, dh + i);
      hn::StoreU(dp, lanes_of, dturned + i);
      hn::StoreU(hn::Add(dp, hn::LoadU(lanes_of, dmoved + i)), lanes_of, dmoved + i);
      hn::StoreU(hn::Add(dp, hn::LoadU(lanes_of, dkey + i)), lanes_of, dkey + i);
      hn::StoreU(hn::Add(hn::IfThenZeroElse(above, hn::Mul(dcandidate, p)),
                         hn::LoadU(lanes_of, dslope + i)),
                 lanes_of, dslope + i);
    }
    for (; i < d; ++i) {
      const float p = turned[i] + moved[i] + key[i], dsum = by * (dy[i] - along * y[i]);
      const float dcandidate = g * dsum, dp = p > 0 ? dcandidate : slope[i] * dcandidate;
      dgate_rest += dsum * (p > 0 ? p : slope[i] * p);
      dh[i] = dsum;
      dturned[i] = dp;
      dmoved[i] += dp;
      dkey[i] += dp;
      dslope[i] += p > 0 ? 0 : dcandidate * p;
    }
    const float ddot = (hn::GetLane(hn::SumOfLanes(lanes_of, dgate)) + dgate_rest) * g * (1 - g);
    to.to_keys[j] = ddot;
    float* HWY_RESTRICT own = dh;
    for (i = 0; i < d; ++i) ds[i] += ddot * h[i], own[i] += ddot * s[i];
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(change);
HWY_EXPORT(change_grad);

void change_slots(const EntitySentence<float>& x, float* next, float* gate, float* scale) {
  FOVEA_DISPATCH(change)(x, next, gate, scale);
}
void change_slots_grad(const EntitySentence<float>& x, const EntityGradient<float>& to,
                       const float* dnext, const float* next, const float* gate,
                       const float* scale) {
  FOVEA_DISPATCH(change_grad)(x, to, dnext, next, gate, scale);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
