#include "fovea/kernel/index.h"

#include <algorithm>
#include <cstring>

#include "fovea/base/parallel.h"
#include "fovea/kernel/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/index.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"
#include "fovea/kernel/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {

void add_row(float* y, const float* x, int64_t n) { map2(Plus{}, y, y, x, n); }

}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {

HWY_EXPORT(add_row);

namespace {

// The last two axes: rows of memory where both sides run on, else square blocks, so that each cache
// line of either side is used whole.
template <class T>
void copy_plane(T* y, const T* x, int64_t rows, int64_t cols, int64_t row_y, int64_t row_x,
                int64_t col_y, int64_t col_x) {
  if (col_y == 1 && col_x == 1) {
    for (int64_t r = 0; r < rows; ++r) std::memcpy(y + r * row_y, x + r * row_x, cols * sizeof(T));
    return;
  }
  constexpr int64_t block = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += block) {
    for (int64_t c0 = 0; c0 < cols; c0 += block) {
      const int64_t r1 = std::min(r0 + block, rows), c1 = std::min(c0 + block, cols);
      for (int64_t r = r0; r < r1; ++r) {
        for (int64_t c = c0; c < c1; ++c) y[r * row_y + c * col_y] = x[r * row_x + c * col_x];
      }
    }
  }
}

}  // namespace

template <class T>
void strided_copy(const StridedCopy& how, T* y, const T* x) {
  if (how.rank == 0) {
    *y = *x;
    return;
  }
  const int last = how.rank - 1;
  const int64_t rows = last > 0 ? how.dims[last - 1] : 1, cols = how.dims[last];
  const int64_t row_y = last > 0 ? how.step_y[last - 1] : 0;
  const int64_t row_x = last > 0 ? how.step_x[last - 1] : 0;
  int64_t planes = 1;
  for (int i = 0; i < last - 1; ++i) planes *= how.dims[i];
  // A plane alone is cut by rows, several by planes.
  const int64_t rows_each = planes > 1 ? rows : std::min(rows, row_grain(light_grain, cols));
  const int64_t parts = rows_each > 0 ? (rows + rows_each - 1) / rows_each : 0;
  const int64_t grain = row_grain(light_grain, rows_each * cols);
  parallel_for(planes * parts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i / parts;
      const int64_t row = i % parts * rows_each;
      int64_t at_y = row * row_y, at_x = row * row_x;
      for (int axis = last - 2; axis >= 0; --axis) {
        at_y += rest % how.dims[axis] * how.step_y[axis];
        at_x += rest % how.dims[axis] * how.step_x[axis];
        rest /= how.dims[axis];
      }
      copy_plane(y + at_y, x + at_x, std::min(rows_each, rows - row), cols, row_y, row_x,
                 how.step_y[last], how.step_x[last]);
    }
  });
}

template <class T>
void gather_rows(T* y, const T* table, const int32_t* ids, int64_t count, int64_t cols) {
  parallel_for(count, row_grain(light_grain, cols), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(y + i * cols, table + ids[i] * cols, cols * sizeof(T));
    }
  });
}

void scatter_add_rows(float* table, const float* x, const int32_t* ids, int64_t count,
                      int64_t cols) {
  // Cut by columns: ids may repeat, and each sum must be made in one order by one thread.
  const int64_t width = std::max<int64_t>(64, row_grain(light_grain, count) / 16 * 16);
  parallel_for(cols, width, [=](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < count; ++i) {
      if (ids[i] < 0) continue;
      FOVEA_DISPATCH(add_row)
      (table + ids[i] * cols + begin, x + i * cols + begin, end - begin);
    }
  });
}

template void strided_copy(const StridedCopy&, float*, const float*);
template void strided_copy(const StridedCopy&, double*, const double*);
template void strided_copy(const StridedCopy&, int32_t*, const int32_t*);
template void gather_rows(float*, const float*, const int32_t*, int64_t, int64_t);
template void gather_rows(double*, const double*, const int32_t*, int64_t, int64_t);
template void gather_rows(int32_t*, const int32_t*, const int32_t*, int64_t, int64_t);

}  // namespace fovea::kernel
#endif  // HWY_ONCE
