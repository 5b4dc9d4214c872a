#include "fovea/kernel/bags.h"

#include <algorithm>

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

// A bag's features from `at` on, `count` of them and at most as many as N vectors hold: sums stay
// in registers.
template <int N>
void sum_features(float* to, const Bags<float>& b, int64_t first, int64_t last, int64_t at,
                  int64_t count) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t rest = count - (N - 1) * lanes;
  V sum[N];
  for (V& one : sum) one = hn::Zero(d);
  for (int64_t w = first; w < last; ++w) {
    const float *weight = b.weights + b.places[w] * b.d + at, *word = b.word(w) + at;
    for (int i = 0; i + 1 < N; ++i) {
      sum[i] = hn::MulAdd(hn::LoadU(d, weight + i * lanes), hn::LoadU(d, word + i * lanes), sum[i]);
    }
    const int64_t end = (N - 1) * lanes;
    sum[N - 1] =
        hn::MulAdd(load_part(d, weight + end, rest), load_part(d, word + end, rest), sum[N - 1]);
  }
  for (int i = 0; i + 1 < N; ++i) hn::StoreU(sum[i], d, to + i * lanes);
  store_part(sum[N - 1], d, to + (N - 1) * lanes, rest);
}

void sum_some(float* y, const Bags<float>& b, int64_t begin, int64_t end) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t s = begin; s < end; ++s) {
    const int64_t first = b.offsets[s], last = b.offsets[s + 1];
    for (int64_t at = 0; at < b.d; at += 4 * lanes) {
      const int64_t count = std::min(b.d - at, 4 * lanes);
      float* to = y + s * b.d + at;
      if (count > 3 * lanes) {
        sum_features<4>(to, b, first, last, at, count);
      } else if (count > 2 * lanes) {
        sum_features<3>(to, b, first, last, at, count);
      } else if (count > lanes) {
        sum_features<2>(to, b, first, last, at, count);
      } else {
        sum_features<1>(to, b, first, last, at, count);
      }
    }
  }
}

// Of the words from `begin` to `end` in the table.
void sum_table_grad(float* dtable, const float* dy, const Bags<float>& b, int64_t begin,
                    int64_t end) {
  for (int64_t s = 0; s < b.bags; ++s, dy += b.d) {
    for (int64_t w = b.offsets[s]; w < b.offsets[s + 1]; ++w) {
      if (b.ids[w] < begin || b.ids[w] >= end) continue;
      float* to = dtable + b.ids[w] * b.d;
      map3(AddProduct{}, to, to, b.weights + b.places[w] * b.d, dy, b.d);
    }
  }
}

void sum_weights_grad(float* dweights, const float* dy, const Bags<float>& b) {
  for (int64_t s = 0; s < b.bags; ++s, dy += b.d) {
    for (int64_t w = b.offsets[s]; w < b.offsets[s + 1]; ++w) {
      float* to = dweights + b.places[w] * b.d;
      map3(AddProduct{}, to, to, b.word(w), dy, b.d);
    }
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(sum_some);
HWY_EXPORT(sum_table_grad);
HWY_EXPORT(sum_weights_grad);

void sum_bags(float* y, const Bags<float>& b) {
  parallel_for(b.bags, row_grain(light_grain, 8 * b.d), [&](int64_t begin, int64_t end) {
    FOVEA_DISPATCH(sum_some)(y, b, begin, end);
  });
}
// Several bags add to one word: on one thread, so that sums have an order. Each thread has words of
// its own, and looks for them among all.
void sum_bags_grad(float* dtable, float* dweights, const float* dy, const Bags<float>& b) {
  if (dtable) {
    const int64_t words = b.bags > 0 ? b.offsets[b.bags] - b.offsets[0] : 0;
    const int64_t parts = std::clamp<int64_t>(words * b.d / light_grain, 1, 8);
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      FOVEA_DISPATCH(sum_table_grad)
      (dtable, dy, b, b.rows * begin / parts, b.rows * end / parts);
    });
  }
  if (dweights) FOVEA_DISPATCH(sum_weights_grad)(dweights, dy, b);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
