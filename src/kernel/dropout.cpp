#include "fovea/kernel/dropout.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// Elements [first, first + n) of one run; `first` counts within the run.
void dropout_part(float* y, const float* x, uint32_t first, int64_t n, float scale, uint32_t seed,
                  uint32_t threshold) {
  const D d;
  const hn::RebindToUnsigned<D> du;
  using U = hn::Vec<decltype(du)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const U m1 = hn::Set(du, 0x7feb352dU), m2 = hn::Set(du, 0x846ca68bU), s = hn::Set(du, seed);
  const U top = hn::Set(du, 0x80000000U);
  // Unsigned order by a signed comparison: both sides with their top bit turned.
  const hn::RebindToSigned<D> di;
  const auto limit = hn::BitCast(di, hn::Xor(hn::Set(du, threshold), top));
  for (int64_t i = 0; i < n; i += lanes) {
    U h = hn::Xor(hn::Iota(du, first + static_cast<uint32_t>(i)), s);
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    h = hn::Mul(h, m1);
    h = hn::Xor(h, hn::ShiftRight<15>(h));
    h = hn::Mul(h, m2);
    h = hn::Xor(h, hn::ShiftRight<16>(h));
    const auto dropped = hn::Lt(hn::BitCast(di, hn::Xor(h, top)), limit);
    const int64_t rest = n - i;
    const V v = rest >= lanes ? hn::LoadU(d, x + i) : load_part(d, x + i, rest);
    const V kept = hn::IfThenZeroElse(hn::RebindMask(d, dropped), hn::Mul(v, hn::Set(d, scale)));
    if (rest >= lanes) {
      hn::StoreU(kept, d, y + i);
    } else {
      store_part(kept, d, y + i, rest);
    }
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(dropout_part);

void dropout(float* y, const float* x, int64_t n, double p, uint64_t key) {
  const auto scale = static_cast<float>(1 / (1 - p));
  // 2^32 is a multiple of the grain, so no chunk lies in two runs.
  parallel_for(n, light_grain, [=](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(dropout_part)
    (y + begin, x + begin, static_cast<uint32_t>(begin), end - begin, scale,
     naive::run_seed(key, static_cast<uint32_t>(begin >> 32)), naive::threshold(p));
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
