#include "fovea/kernel/dropout.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// n elements, the first of which is number `first` of the whole array.
void dropout_part(float* y, const float* x, int64_t first, int64_t n, double p, uint64_t key) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  Dropper drop(p, key, first);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(drop(hn::LoadU(d, x + i), lanes), d, y + i);
  if (i < n) store_part(drop(load_part(d, x + i, n - i), n - i), d, y + i, n - i);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(dropout_part);

void dropout(float* y, const float* x, int64_t n, double p, uint64_t key) {
  // 2^32 is a multiple of the grain, so no chunk lies in two runs.
  parallel_for(n, light_grain, [=](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(dropout_part)(y + begin, x + begin, begin, end - begin, p, key);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
