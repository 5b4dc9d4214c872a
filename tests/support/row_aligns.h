// Alignments as someone outside the library would give them, and their twins.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fovea/kernel/naive/attention_rows.h"

namespace fovea::test {

// Softmax over the k highest scores; scores equal to the k-th all take part.
struct TopSoftmax {
  int64_t k = 0;  // 0: plain softmax

  template <class T>
  void forward(T* row, int64_t n) const {
    const T none = -std::numeric_limits<T>::infinity();
    T least = none;
    if (k > 0 && k < n) {
      std::vector<T> order(row, row + n);
      std::nth_element(order.begin(), order.begin() + (k - 1), order.end(), std::greater<T>());
      least = order[k - 1];
    }
    const T top = *std::max_element(row, row + n);
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      sum += row[j] = row[j] >= least && row[j] > none ? std::exp(row[j] - top) : T(0);
    }
    for (int64_t j = 0; j < n; ++j) row[j] /= sum;
  }
  template <class T>
  static void backward(const T* a, T* g, int64_t n) {
    T mean = 0;
    for (int64_t j = 0; j < n; ++j) mean += a[j] * g[j];
    for (int64_t j = 0; j < n; ++j) g[j] = a[j] * (g[j] - mean);
  }

  kernel::GivenAlign given() const {
    return {.self = this,
            .forward =
                [](const void* self, float* rows, int64_t count, int64_t ld, int64_t n) {
                  for (int64_t r = 0; r < count; ++r) {
                    static_cast<const TopSoftmax*>(self)->forward(rows + r * ld, n);
                  }
                },
            .backward =
                [](const void*, const float* a, float* g, int64_t count, int64_t ld, int64_t n) {
                  for (int64_t r = 0; r < count; ++r) backward(a + r * ld, g + r * ld, n);
                }};
  }
  naive::RowAlignment<double> twin() const {
    return {[*this](double* e, int64_t n) { forward(e, n); },
            [](const double* a, double* g, int64_t n) { backward(a, g, n); }};
  }
};

}  // namespace fovea::test
