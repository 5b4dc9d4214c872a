#include "fovea/kernel/precise.h"

#include <algorithm>

#include "fovea/base/parallel.h"
#include "fovea/kernel/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/precise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t rows_at_once = 8;

// y[r * ldy] = x[r] . w for ROWS rows of x, `in` apart.
template <int64_t ROWS>
HWY_INLINE void row_times_some(double* y, int64_t ldy, const double* x, const float* w, double bias,
                               int64_t in) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[ROWS];
  for (int64_t r = 0; r < ROWS; ++r) sums[r] = hn::Zero(d);
  int64_t l = 0;
  for (; l + lanes <= in; l += lanes) {
    const auto wide = hn::PromoteTo(d, hn::LoadU(narrow, w + l));
    for (int64_t r = 0; r < ROWS; ++r) {
      sums[r] = hn::MulAdd(hn::LoadU(d, x + r * in + l), wide, sums[r]);
    }
  }
  for (int64_t r = 0; r < ROWS; ++r) {
    double sum = bias + hn::GetLane(hn::SumOfLanes(d, sums[r]));
    for (int64_t i = l; i < in; ++i) sum += x[r * in + i] * static_cast<double>(w[i]);
    y[r * ldy] = sum;
  }
}

template <class X>
void linear_rows(double* y, const X* x, const float* w, const float* bias, int64_t rows,
                 int64_t out, int64_t in) {
  const int64_t blocks = (rows + rows_at_once - 1) / rows_at_once;
  const int64_t work = rows_at_once * std::max<int64_t>(1, out * in);
  parallel_for(blocks, 1 + (128 << 10) / work, [&](int64_t begin, int64_t end) {
    Scratch scratch(Scratch::bytes<double>(rows_at_once * in));
    auto* wide = scratch.take<double>(rows_at_once * in);
    for (int64_t row = begin * rows_at_once; row < std::min(rows, end * rows_at_once);
         row += rows_at_once) {
      const int64_t count = std::min(rows_at_once, rows - row);
      std::copy_n(x + row * in, count * in, wide);
      for (int64_t j = 0; j < out; ++j) {
        const double start = bias ? bias[j] : 0;
        double* to = y + row * out + j;
        if (count == rows_at_once) {
          row_times_some<rows_at_once>(to, out, wide, w + j * in, start, in);
          continue;
        }
        for (int64_t r = 0; r < count; ++r) {
          row_times_some<1>(to + r * out, out, wide + r * in, w + j * in, start, in);
        }
      }
    }
  });
}

void linear_f32(double* y, const float* x, const float* w, const float* bias, int64_t rows,
                int64_t out, int64_t in) {
  linear_rows(y, x, w, bias, rows, out, in);
}
void linear_f64(double* y, const double* x, const float* w, const float* bias, int64_t rows,
                int64_t out, int64_t in) {
  linear_rows(y, x, w, bias, rows, out, in);
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(linear_f32);
HWY_EXPORT(linear_f64);

void precise_linear(double* y, const float* x, const float* w, const float* bias, int64_t rows,
                    int64_t out, int64_t in) {
  FOVEA_DISPATCH(linear_f32)(y, x, w, bias, rows, out, in);
}
void precise_linear(double* y, const double* x, const float* w, const float* bias, int64_t rows,
                    int64_t out, int64_t in) {
  FOVEA_DISPATCH(linear_f64)(y, x, w, bias, rows, out, in);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
