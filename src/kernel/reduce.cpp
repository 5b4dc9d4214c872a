#include "fovea/kernel/reduce.h"

#include <algorithm>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

float sum_run(const float* x, int64_t n) { return sum_of(Same{}, x, n); }

// y[width] = the sum of n rows, `stride` apart.
void sum_rows(float* y, const float* x, int64_t n, int64_t width, int64_t stride) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= width; i += 2 * lanes) {
    V s0 = hn::Zero(d), s1 = s0;
    for (int64_t j = 0; j < n; ++j) {
      s0 = hn::Add(s0, hn::LoadU(d, x + j * stride + i));
      s1 = hn::Add(s1, hn::LoadU(d, x + j * stride + i + lanes));
    }
    hn::StoreU(s0, d, y + i);
    hn::StoreU(s1, d, y + i + lanes);
  }
  for (; i < width; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += x[j * stride + i];
    y[i] = sum;
  }
}

double square_sum_run(const float* x, int64_t n) {
  struct {
    V operator()(D, V v) const { return hn::Mul(v, v); }
  } square;
  double sum = 0;
  // Short enough pieces that a float sum of squares keeps its digits.
  for (int64_t i = 0; i < n; i += 256) sum += sum_of(square, x + i, std::min<int64_t>(256, n - i));
  return sum;
}

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(sum_run);
HWY_EXPORT(sum_rows);
HWY_EXPORT(square_sum_run);

namespace {

// Adds up part(begin, end) over [0, n) cut into at most `most` pieces, in order.
template <class Sum, class Part>
Sum sum_in_pieces(int64_t n, const Part& part) {
  constexpr int64_t most = 64;
  const int64_t piece = std::max<int64_t>(light_grain, (n + most - 1) / most);
  Sum sums[most] = {};
  parallel_for(n, piece,
               [&](int64_t begin, int64_t end) { sums[begin / piece] = part(begin, end); });
  Sum total = 0;
  for (int64_t i = 0; i * piece < n; ++i) total += sums[i];
  return total;
}

}  // namespace

void sum_axis(float* y, const float* x, int64_t outer, int64_t n, int64_t inner) {
  if (inner == 1 && outer == 1) {
    *y = sum_in_pieces<float>(n, [=](int64_t begin, int64_t end) {
      return FOVEA_DISPATCH(sum_run)(x + begin, end - begin);
    });
  } else if (inner == 1) {
    parallel_for(outer, row_grain(light_grain, n), [=](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) y[o] = FOVEA_DISPATCH(sum_run)(x + o * n, n);
    });
  } else if (outer == 1) {
    // Cut by columns, whole cache lines each: every column is then added up in one order.
    const int64_t columns = std::max<int64_t>(64, row_grain(light_grain, n) / 16 * 16);
    parallel_for(inner, columns, [=](int64_t begin, int64_t end) {
      FOVEA_DISPATCH(sum_rows)(y + begin, x + begin, n, end - begin, inner);
    });
  } else {
    parallel_for(outer, row_grain(light_grain, n * inner), [=](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o) {
        FOVEA_DISPATCH(sum_rows)(y + o * inner, x + o * n * inner, n, inner, inner);
      }
    });
  }
}

void max_axis(float* y, int32_t* at, const float* x, int64_t outer, int64_t n, int64_t inner) {
  // The comparison must remember where it found the maximum, which the plain loop does as fast as
  // memory gives it the numbers.
  parallel_for(outer, row_grain(heavy_grain, n * inner), [=](int64_t begin, int64_t end) {
    naive::max_axis(y + begin * inner, at + begin * inner, x + begin * n * inner, end - begin, n,
                    inner);
  });
}

double square_sum(const float* x, int64_t n) {
  return sum_in_pieces<double>(n, [=](int64_t begin, int64_t end) {
    return FOVEA_DISPATCH(square_sum_run)(x + begin, end - begin);
  });
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
