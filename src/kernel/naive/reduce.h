// Plain twin of kernel/reduce.
#pragma once

#include <cstdint>

namespace fovea::naive {

template <class T>
void sum_axis(T* y, const T* x, int64_t outer, int64_t n, int64_t inner) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      T sum = 0;
      for (int64_t j = 0; j < n; ++j) sum += x[(o * n + j) * inner + i];
      y[o * inner + i] = sum;
    }
  }
}

template <class T>
void max_axis(T* y, int32_t* at, const T* x, int64_t outer, int64_t n, int64_t inner) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      int64_t best = 0;
      for (int64_t j = 1; j < n; ++j) {
        if (x[(o * n + j) * inner + i] > x[(o * n + best) * inner + i]) best = j;
      }
      y[o * inner + i] = x[(o * n + best) * inner + i];
      at[o * inner + i] = static_cast<int32_t>(best);
    }
  }
}

template <class T>
double square_sum(const T* x, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

}  // namespace fovea::naive
