// Plain twin of kernel/binary.
#pragma once

#include <cstdint>

#include "fovea/base/shape.h"

namespace fovea::naive {

enum class Binary { add, subtract, multiply, divide, maximum, minimum };

// Axes outermost first; a step of 0 repeats the operand along that axis.
struct Broadcast {
  int rank = 0;
  int64_t dims[Shape::max_rank] = {};
  int64_t step_a[Shape::max_rank] = {};
  int64_t step_b[Shape::max_rank] = {};
};

template <class T>
T value(Binary f, T a, T b) {
  switch (f) {
    case Binary::add:
      return a + b;
    case Binary::subtract:
      return a - b;
    case Binary::multiply:
      return a * b;
    case Binary::divide:
      return a / b;
    case Binary::maximum:
      return a >= b ? a : b;
    case Binary::minimum:
      return a <= b ? a : b;
  }
  return a;
}

template <class T>
void binary(Binary f, T* y, const T* a, const T* b, const Broadcast& how) {
  int64_t n = 1;
  for (int i = 0; i < how.rank; ++i) n *= how.dims[i];
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, at_a = 0, at_b = 0;
    for (int axis = how.rank - 1; axis >= 0; --axis) {
      const int64_t index = rest % how.dims[axis];
      rest /= how.dims[axis];
      at_a += index * how.step_a[axis];
      at_b += index * how.step_b[axis];
    }
    y[i] = value(f, a[at_a], b[at_b]);
  }
}

}  // namespace fovea::naive
