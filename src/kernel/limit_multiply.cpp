#include "fovea/base/parallel.h"
#include "fovea/kernel/limits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/limit_multiply.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr int64_t sums_at_once = 12;  // as many as hide the latency of a multiplication
constexpr int64_t turns = 1 << 18;

// Sums that stay in registers. Returns one that needs them all.
float multiply_registers() {
  const D d;
  const V factor = hn::Set(d, 0.75f), more = hn::Set(d, 0.25f);
  V sums[sums_at_once];
  FOVEA_UNROLL for (int64_t i = 0; i < sums_at_once; ++i) sums[i] = hn::Iota(d, float(i));
  for (int64_t turn = 0; turn < turns; ++turn) {
    FOVEA_UNROLL for (int64_t i = 0; i < sums_at_once; ++i) {
      sums[i] = hn::MulAdd(sums[i], factor, more);
    }
  }
  FOVEA_UNROLL for (int64_t i = 1; i < sums_at_once; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

double operations_of_one() { return 2.0 * lanes * sums_at_once * turns; }

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(multiply_registers);
HWY_EXPORT(operations_of_one);

namespace {
constexpr int64_t pieces = 16;
}

float limit_multiply() {
  float sums[pieces];
  parallel_for(pieces, 1,
               [&](int64_t i, int64_t) { sums[i] = FOVEA_DISPATCH(multiply_registers)(); });
  return sums[pieces - 1];
}

double limit_multiply_operations() { return pieces * FOVEA_DISPATCH(operations_of_one)(); }

}  // namespace fovea::kernel
#endif  // HWY_ONCE
