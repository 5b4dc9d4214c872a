// Plain twin of kernel/dropped.
#pragma once

#include "fovea/kernel/naive/dropout.h"
#include "fovea/kernel/naive/unary.h"

namespace fovea::naive {

// Which elements are left out; p = 0: none.
struct Drop {
  double p = 0;
  uint64_t key = 0;

  template <class T>
  T operator()(T x, int64_t index) const {
    if (p == 0) return x;
    return keeps(key, static_cast<uint64_t>(index), threshold(p)) ? x * T(1 / (1 - p)) : T(0);
  }
};

struct Rows {
  int64_t rows, C;
};

template <class T>
T with_bias(const T* x, const T* bias, int64_t i, int64_t C) {
  return bias ? x[i] + bias[i % C] : x[i];
}

template <class T>
void add_dropped(T* y, const T* x, const T* part, const T* bias, Rows n, const Drop& drop) {
  for (int64_t i = 0; i < n.rows * n.C; ++i) y[i] = x[i] + drop(with_bias(part, bias, i, n.C), i);
}

template <class T>
void activate_dropped(Unary f, T* y, const T* x, const T* bias, Rows n, const Drop& drop) {
  for (int64_t i = 0; i < n.rows * n.C; ++i) {
    y[i] = drop(value(f, with_bias(x, bias, i, n.C), T(0), T(0)), i);
  }
}

template <class T>
void activate_dropped_grad(Unary f, T* dx, const T* dy, const T* x, const T* bias, Rows n,
                           const Drop& drop) {
  for (int64_t i = 0; i < n.rows * n.C; ++i) {
    const T at = with_bias(x, bias, i, n.C);
    dx[i] = drop(dy[i], i) * slope(f, at, value(f, at, T(0), T(0)), T(0), T(0));
  }
}

}  // namespace fovea::naive
