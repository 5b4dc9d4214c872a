// Plain twin of kernel/norm.
#pragma once

#include <cmath>
#include <cstdint>

namespace fovea::naive {

template <class T>
void layer_norm(T* y, T* mean, T* rstd, const T* x, const T* gamma, const T* beta, int64_t rows,
                int64_t cols, T eps) {
  for (int64_t r = 0; r < rows; ++r, x += cols, y += cols) {
    T sum = 0, squares = 0;
    for (int64_t i = 0; i < cols; ++i) sum += x[i];
    mean[r] = sum / cols;
    for (int64_t i = 0; i < cols; ++i) squares += (x[i] - mean[r]) * (x[i] - mean[r]);
    rstd[r] = 1 / std::sqrt(squares / cols + eps);
    for (int64_t i = 0; i < cols; ++i) y[i] = (x[i] - mean[r]) * rstd[r] * gamma[i] + beta[i];
  }
}

template <class T>
void layer_norm_grad(T* dx, const T* dy, const T* x, const T* gamma, const T* mean, const T* rstd,
                     int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r, x += cols, dx += cols, dy += cols) {
    T sum = 0, dot = 0;
    for (int64_t i = 0; i < cols; ++i) {
      sum += dy[i] * gamma[i];
      dot += dy[i] * gamma[i] * (x[i] - mean[r]) * rstd[r];
    }
    for (int64_t i = 0; i < cols; ++i) {
      const T normal = (x[i] - mean[r]) * rstd[r];
      dx[i] = rstd[r] * (dy[i] * gamma[i] - sum / cols - normal * dot / cols);
    }
  }
}

template <class T>
void layer_norm_grad_affine(T* dgamma, T* dbeta, const T* dy, const T* x, const T* mean,
                            const T* rstd, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < cols; ++i) {
    dgamma[i] = dbeta[i] = 0;
    for (int64_t r = 0; r < rows; ++r) {
      dgamma[i] += dy[r * cols + i] * (x[r * cols + i] - mean[r]) * rstd[r];
      dbeta[i] += dy[r * cols + i];
    }
  }
}

}  // namespace fovea::naive
