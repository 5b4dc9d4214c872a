#include "fovea/kernel/softmax.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/softmax.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/activation-inl.h"
#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

constexpr float lowest = -__builtin_huge_valf();

struct ExpMinus {
  float shift;
  V operator()(D d, V x) const { return hn::Exp(d, hn::Sub(x, hn::Set(d, shift))); }
};
struct MinusScalar {
  float shift;
  V operator()(D d, V x) const { return hn::Sub(x, hn::Set(d, shift)); }
};
struct SoftmaxSlope {
  float dot;
  V operator()(D d, V dy, V y) const { return hn::Mul(y, hn::Sub(dy, hn::Set(d, dot))); }
};
struct LogSoftmaxSlope {
  float sum;
  V operator()(D d, V dy, V y) const { return hn::NegMulAdd(hn::Exp(d, y), hn::Set(d, sum), dy); }
};

float log_sum_exp_row(const float* x, int64_t n) {
  const float top = max_of(x, n);
  if (top == lowest) return top;
  return top + std::log(sum_of(ExpMinus{top}, x, n));
}

void softmax_row(float* y, const float* x, int64_t n) {
  const float top = max_of(x, n);
  if (top == lowest) return std::fill_n(y, n, 0.0f), void();
  map1(ExpMinus{top}, y, x, n);
  map1(TimesScalar{1 / sum_of(Same{}, y, n)}, y, y, n);
}

void softmax_grad_row(float* dx, const float* dy, const float* y, int64_t n) {
  map2(SoftmaxSlope{sum_of2(Times{}, dy, y, n)}, dx, dy, y, n);
}

void log_softmax_row(float* y, const float* x, int64_t n) {
  const float lse = log_sum_exp_row(x, n);
  if (lse == lowest) return std::fill_n(y, n, lowest), void();
  map1(MinusScalar{lse}, y, x, n);
}

void log_softmax_grad_row(float* dx, const float* dy, const float* y, int64_t n) {
  map2(LogSoftmaxSlope{sum_of(Same{}, dy, n)}, dx, dy, y, n);
}

float row_sum(const float* x, int64_t n) { return sum_of(Same{}, x, n); }

// dx = scale (e^(x - lse) - shift)
void cross_entropy_grad_row(float* dx, const float* x, int64_t n, float lse, float scale,
                            float shift) {
  struct Scaled {
    float lse, scale, shift;
    V operator()(D d, V x) const {
      const V p = hn::Exp(d, hn::Sub(x, hn::Set(d, lse)));
      return hn::Mul(hn::Set(d, scale), hn::Sub(p, hn::Set(d, shift)));
    }
  };
  map1(Scaled{lse, scale, shift}, dx, x, n);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(log_sum_exp_row);
HWY_EXPORT(softmax_row);
HWY_EXPORT(softmax_grad_row);
HWY_EXPORT(log_softmax_row);
HWY_EXPORT(log_softmax_grad_row);
HWY_EXPORT(row_sum);
HWY_EXPORT(cross_entropy_grad_row);

namespace {

// Calls f(offset) for the first element of every row.
template <class F>
void each_row(int64_t rows, int64_t cols, const F& f) {
  parallel_for(rows, row_grain(heavy_grain, cols), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r * cols);
  });
}

}  // namespace

void softmax(float* y, const float* x, int64_t rows, int64_t cols) {
  each_row(rows, cols, [=](int64_t i) { FOVEA_DISPATCH(softmax_row)(y + i, x + i, cols); });
}

void softmax_grad(float* dx, const float* dy, const float* y, int64_t rows, int64_t cols) {
  each_row(rows, cols, [=](int64_t i) {
    FOVEA_DISPATCH(softmax_grad_row)(dx + i, dy + i, y + i, cols);
  });
}

void log_softmax(float* y, const float* x, int64_t rows, int64_t cols) {
  each_row(rows, cols, [=](int64_t i) { FOVEA_DISPATCH(log_softmax_row)(y + i, x + i, cols); });
}

void log_softmax_grad(float* dx, const float* dy, const float* y, int64_t rows, int64_t cols) {
  each_row(rows, cols, [=](int64_t i) {
    FOVEA_DISPATCH(log_softmax_grad_row)(dx + i, dy + i, y + i, cols);
  });
}

void cross_entropy(const CrossEntropy& how, float* loss, float* lse, const float* logits,
                   const int32_t* targets) {
  each_row(how.rows, how.cols, [=](int64_t i) {
    const int64_t r = i / how.cols;
    const float* x = logits + i;
    lse[r] = FOVEA_DISPATCH(log_sum_exp_row)(x, how.cols);
    if (targets[r] < 0) {
      loss[r] = 0;
      return;
    }
    loss[r] = (1 - how.smoothing) * (lse[r] - x[targets[r]]);
    if (how.smoothing > 0) {
      const float mean = FOVEA_DISPATCH(row_sum)(x, how.cols) / static_cast<float>(how.cols);
      loss[r] += how.smoothing * (lse[r] - mean);
    }
  });
}

void cross_entropy_grad(const CrossEntropy& how, float* dx, const float* dloss, const float* logits,
                        const float* lse, const int32_t* targets) {
  const float spread = how.smoothing / static_cast<float>(how.cols);
  each_row(how.rows, how.cols, [=](int64_t i) {
    const int64_t r = i / how.cols;
    if (targets[r] < 0) return std::fill_n(dx + i, how.cols, 0.0f), void();
    FOVEA_DISPATCH(cross_entropy_grad_row)
    (dx + i, logits + i, how.cols, lse[r], dloss[r], spread);
    dx[i + targets[r]] -= dloss[r] * (1 - how.smoothing);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
