// Plain twin of kernel/dropped.
#pragma once

#include "fovea/kernel/naive/dropout.h"
#include "fovea/kernel/naive/unary.h"

namespace fovea::naive {

// Which elements are left out; p = 0: none. The first that a kernel is given has the index `first`.
struct Drop {
  double p = 0;
  uint64_t key = 0;
  int64_t first = 0;

  template <class T>
  T operator()(T x, int64_t index) const {
    if (p == 0) return x;
    return keeps(key, static_cast<uint64_t>(first + index), threshold(p)) ? x * T(1 / (1 - p))
                                                                          : T(0);
  }
};

template <class T>
void add_dropped(T* y, const T* x, const T* part, int64_t n, const Drop& drop) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] + drop(part[i], i);
}

template <class T>
void activate_dropped(Unary f, T* y, T* slopes, const T* x, int64_t n, const Drop& drop) {
  for (int64_t i = 0; i < n; ++i) {
    const T v = value(f, x[i], T(0), T(0)), steep = slope(f, x[i], v, T(0), T(0));
    y[i] = drop(v, i);  // which may be x[i]
    if (slopes) slopes[i] = drop(steep, i);
  }
}

}  // namespace fovea::naive
