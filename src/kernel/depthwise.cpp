#include "fovea/kernel/depthwise.h"

#include <algorithm>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/depthwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

// y += the sum of `count` products of vectors of channels. Four vectors at once, since each sum
// waits for its last addition.
void add_products(float* y, const float* const* a, const float* const* b, int64_t count,
                  int64_t channels) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= channels; i += 4 * lanes) {
    V s0 = hn::LoadU(d, y + i), s1 = hn::LoadU(d, y + i + lanes);
    V s2 = hn::LoadU(d, y + i + 2 * lanes), s3 = hn::LoadU(d, y + i + 3 * lanes);
    for (int64_t t = 0; t < count; ++t) {
      const float *at = a[t] + i, *bt = b[t] + i;
      s0 = hn::MulAdd(hn::LoadU(d, at), hn::LoadU(d, bt), s0);
      s1 = hn::MulAdd(hn::LoadU(d, at + lanes), hn::LoadU(d, bt + lanes), s1);
      s2 = hn::MulAdd(hn::LoadU(d, at + 2 * lanes), hn::LoadU(d, bt + 2 * lanes), s2);
      s3 = hn::MulAdd(hn::LoadU(d, at + 3 * lanes), hn::LoadU(d, bt + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, y + i);
    hn::StoreU(s1, d, y + i + lanes);
    hn::StoreU(s2, d, y + i + 2 * lanes);
    hn::StoreU(s3, d, y + i + 3 * lanes);
  }
  for (; i + lanes <= channels; i += lanes) {
    V sum = hn::LoadU(d, y + i);
    for (int64_t t = 0; t < count; ++t) {
      sum = hn::MulAdd(hn::LoadU(d, a[t] + i), hn::LoadU(d, b[t] + i), sum);
    }
    hn::StoreU(sum, d, y + i);
  }
  for (; i < channels; ++i) {
    for (int64_t t = 0; t < count; ++t) y[i] += a[t][i] * b[t][i];
  }
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(add_products);

namespace {

// A sum of products of vectors, gathered as pointers first: the loop over them then keeps the sums
// in registers.
class Products {
 public:
  Products(float* sum, int64_t channels) : sum_(sum), channels_(channels) {}
  void add(const float* a, const float* b) {
    a_[count_] = a;
    b_[count_] = b;
    if (++count_ == most) finish();
  }
  void finish() {
    FOVEA_DISPATCH(add_products)(sum_, a_, b_, count_, channels_);
    count_ = 0;
  }

 private:
  static constexpr int64_t most = 64;
  float* sum_;
  int64_t channels_, count_ = 0;
  const float *a_[most], *b_[most];
};

void one_position(const Walk& walk, const WalkRow& at, int64_t column, const float* weights,
                  const float* source, const float* bias, float* y) {
  const int64_t channels = walk.target_channels;
  if (bias) {
    std::copy_n(bias, channels, y);
  } else {
    std::fill_n(y, channels, 0.0f);
  }
  Products sum(y, channels);
  for (int64_t m = 0; m < walk.h.taps; ++m) {
    const float* row = source_row(walk, at, m, source);
    if (!row) continue;
    for (int64_t n = 0; n < walk.w.taps; ++n) {
      const int64_t place = walk.w.place(column, n);
      if (place < 0 || place >= walk.source_width) continue;
      sum.add(row + place * channels, weights + walk.tap(m, n) * channels);
    }
  }
  sum.finish();
}

}  // namespace

void depthwise(const Walk& walk, const float* weights, const float* source, const float* bias,
               float* target) {
  const int64_t channels = walk.target_channels;
  parallel_for(walk.positions(), row_grain(light_grain, channels * walk.taps()),
               [&](int64_t begin, int64_t end) {
                 each_row(walk, begin, end, [&](const WalkRow& at, int64_t) {
                   float* row = target_row(walk, at, target);
                   for (int64_t j = at.from; j < at.to; ++j) {
                     one_position(walk, at, j, weights, source, bias,
                                  row + (walk.w.first + j * walk.w.step) * channels);
                   }
                 });
               });
}

void depthwise_grad_weight(const Walk& walk, float* dw, const float* dy, const float* x,
                           int64_t begin, int64_t end) {
  const int64_t channels = walk.target_channels;
  std::fill_n(dw, walk.taps() * channels, 0.0f);
  each_row(walk, begin, end, [&](const WalkRow& at, int64_t p) {
    for (int64_t m = 0; m < walk.h.taps; ++m) {
      const float* row = source_row(walk, at, m, x);
      if (!row) continue;
      for (int64_t n = 0; n < walk.w.taps; ++n) {
        Products sum(dw + walk.tap(m, n) * channels, channels);
        for (int64_t j = at.from; j < at.to; ++j) {
          const int64_t place = walk.w.place(j, n);
          if (place < 0 || place >= walk.source_width) continue;
          sum.add(row + place * channels, dy + (p + j - at.from) * channels);
        }
        sum.finish();
      }
    }
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
