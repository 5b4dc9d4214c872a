// Plain twin of kernel/batch_norm.
#pragma once

#include <cmath>
#include <cstdint>

namespace fovea::naive {

template <class T>
void column_moments(T* mean, T* variance, const T* x, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < cols; ++i) {
    T sum = 0, squares = 0;
    for (int64_t r = 0; r < rows; ++r) sum += x[r * cols + i];
    mean[i] = sum / static_cast<T>(rows);
    for (int64_t r = 0; r < rows; ++r) {
      squares += (x[r * cols + i] - mean[i]) * (x[r * cols + i] - mean[i]);
    }
    variance[i] = squares / static_cast<T>(rows);
  }
}

// y = (x - mean) rstd gamma + beta, with `relu` max(y, 0).
template <class T>
struct BatchNorm {
  const T* x;                           // [rows, cols]
  const T *mean, *rstd, *gamma, *beta;  // [cols]
  int64_t rows, cols;
  bool relu;
};

template <class T>
void batch_norm(T* y, const BatchNorm<T>& n) {
  for (int64_t i = 0; i < n.rows * n.cols; ++i) {
    const int64_t c = i % n.cols;
    const T value = (n.x[i] - n.mean[c]) * (n.rstd[c] * n.gamma[c]) + n.beta[c];
    y[i] = n.relu && !(value > 0) ? 0 : value;
  }
}

// `fixed`: mean and rstd are constants; else they are those of x. dx may be null.
template <class T>
void batch_norm_grad(T* dx, T* dgamma, T* dbeta, const T* dy, const BatchNorm<T>& n, bool fixed) {
  for (int64_t c = 0; c < n.cols; ++c) {
    const T scale = n.rstd[c] * n.gamma[c];
    const auto slope = [&](int64_t i) {
      return n.relu && !((n.x[i] - n.mean[c]) * scale + n.beta[c] > 0) ? T(0) : dy[i];
    };
    const auto normal = [&](int64_t i) { return (n.x[i] - n.mean[c]) * n.rstd[c]; };
    T sum = 0, dot = 0;
    for (int64_t i = c; i < n.rows * n.cols; i += n.cols) {
      sum += slope(i);
      dot += slope(i) * normal(i);
    }
    dbeta[c] = sum, dgamma[c] = dot;
    const auto count = static_cast<T>(n.rows);
    for (int64_t i = c; dx && i < n.rows * n.cols; i += n.cols) {
      dx[i] = scale * (fixed ? slope(i) : slope(i) - sum / count - normal(i) * dot / count);
    }
  }
}

}  // namespace fovea::naive
