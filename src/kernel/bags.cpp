#include "fovea/kernel/bags.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/bags.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

struct AddProduct {
  V operator()(D, V y, V a, V b) const { return hn::MulAdd(a, b, y); }
};

void sum_some(float* y, const Bags<float>& b, int64_t begin, int64_t end) {
  for (int64_t s = begin; s < end; ++s) {
    float* to = y + s * b.d;
    std::fill_n(to, b.d, 0.0f);
    for (int64_t w = b.offsets[s]; w < b.offsets[s + 1]; ++w)
      map3(AddProduct{}, to, to, b.weights + b.places[w] * b.d, b.word(w), b.d);
  }
}

void sum_grad(float* dtable, float* dweights, const float* dy, const Bags<float>& b) {
  for (int64_t s = 0; s < b.bags; ++s, dy += b.d) {
    for (int64_t w = b.offsets[s]; w < b.offsets[s + 1]; ++w) {
      const float* at = b.weights + b.places[w] * b.d;
      if (dtable && b.ids[w] < b.rows) {
        float* to = dtable + b.ids[w] * b.d;
        map3(AddProduct{}, to, to, at, dy, b.d);
      }
      if (dweights) {
        float* to = dweights + b.places[w] * b.d;
        map3(AddProduct{}, to, to, b.word(w), dy, b.d);
      }
    }
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(sum_some);
HWY_EXPORT(sum_grad);

void sum_bags(float* y, const Bags<float>& b) {
  parallel_for(b.bags, row_grain(light_grain, 8 * b.d), [&](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(sum_some)(y, b, begin, end);
  });
}
// Several bags add to one word: on one thread, so that sums have an order.
void sum_bags_grad(float* dtable, float* dweights, const float* dy, const Bags<float>& b) {
  FOVEA_DISPATCH(sum_grad)(dtable, dweights, dy, b);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
