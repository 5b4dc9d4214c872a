// Plain twin of kernel/softmax.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fovea::naive {

// log sum exp of a row; -inf when it has nothing above -inf.
template <class T>
T log_sum_exp(const T* x, int64_t n) {
  const T top = *std::max_element(x, x + n);
  if (std::isinf(top) && top < 0) return top;
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

template <class T>
void softmax(T* y, const T* x, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const T lse = cols ? log_sum_exp(x, cols) : T(0);
    for (int64_t i = 0; i < cols; ++i)
      y[i] = std::isinf(lse) && lse < 0 ? T(0) : std::exp(x[i] - lse);
  }
}

template <class T>
void softmax_grad(T* dx, const T* dy, const T* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, dx += cols, dy += cols, y += cols) {
    T dot = 0;
    for (int64_t i = 0; i < cols; ++i) dot += dy[i] * y[i];
    for (int64_t i = 0; i < cols; ++i) dx[i] = y[i] * (dy[i] - dot);
  }
}

template <class T>
void log_softmax(T* y, const T* x, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    const T lse = cols ? log_sum_exp(x, cols) : T(0);
    for (int64_t i = 0; i < cols; ++i) y[i] = std::isinf(lse) && lse < 0 ? lse : x[i] - lse;
  }
}

template <class T>
void log_softmax_grad(T* dx, const T* dy, const T* y, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, dx += cols, dy += cols, y += cols) {
    T sum = 0;
    for (int64_t i = 0; i < cols; ++i) sum += dy[i];
    for (int64_t i = 0; i < cols; ++i) dx[i] = dy[i] - std::exp(y[i]) * sum;
  }
}

template <class How, class T>
void cross_entropy(const How& how, T* loss, T* lse, const T* logits, const int32_t* targets) {
  for (int64_t r = 0; r < how.rows; ++r) {
    const T* x = logits + r * how.cols;
    lse[r] = log_sum_exp(x, how.cols);
    T sum = 0;
    for (int64_t i = 0; i < how.cols; ++i) sum += x[i];
    const T s = how.smoothing;
    loss[r] = targets[r] < 0 ? T(0)
                             : (1 - s) * (lse[r] - x[targets[r]]) +
                                   (s == 0 ? T(0) : s * (lse[r] - sum / static_cast<T>(how.cols)));
  }
}

template <class How, class T>
void cross_entropy_grad(const How& how, T* dx, const T* dloss, const T* logits, const T* lse,
                        const int32_t* targets) {
  for (int64_t r = 0; r < how.rows; ++r) {
    for (int64_t i = 0; i < how.cols; ++i) {
      const T target = T(how.smoothing) / static_cast<T>(how.cols) +
                       (i == targets[r] ? 1 - T(how.smoothing) : T(0));
      const int64_t at = r * how.cols + i;
      dx[at] = targets[r] < 0 ? T(0) : dloss[r] * (std::exp(logits[at] - lse[r]) - target);
    }
  }
}

}  // namespace fovea::naive
