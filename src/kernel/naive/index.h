// Plain twin of kernel/index.
#pragma once

#include <cstdint>

#include "fovea/base/shape.h"

namespace fovea::naive {

struct StridedCopy {
  int rank = 0;
  int64_t dims[Shape::max_rank] = {};
  int64_t step_y[Shape::max_rank] = {};  // elements, one for each axis
  int64_t step_x[Shape::max_rank] = {};
};

template <class T>
void strided_copy(const StridedCopy& how, T* y, const T* x) {
  int64_t n = 1;
  for (int i = 0; i < how.rank; ++i) n *= how.dims[i];
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, at_y = 0, at_x = 0;
    for (int axis = how.rank - 1; axis >= 0; --axis) {
      at_y += rest % how.dims[axis] * how.step_y[axis];
      at_x += rest % how.dims[axis] * how.step_x[axis];
      rest /= how.dims[axis];
    }
    y[at_y] = x[at_x];
  }
}

template <class T>
void gather_rows(T* y, const T* table, const int32_t* ids, int64_t count, int64_t cols) {
  for (int64_t i = 0; i < count * cols; ++i) y[i] = table[ids[i / cols] * cols + i % cols];
}

template <class T>
void scatter_add_rows(T* table, const T* x, const int32_t* ids, int64_t count, int64_t cols) {
  for (int64_t i = 0; i < count; ++i) {
    if (ids[i] < 0) continue;
    for (int64_t j = 0; j < cols; ++j) table[ids[i] * cols + j] += x[i * cols + j];
  }
}

}  // namespace fovea::naive
