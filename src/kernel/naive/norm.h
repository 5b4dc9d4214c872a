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
struct NormGradient {
  T* dx;           // [rows, cols], or null
  bool add;        // dx gets it on top of what it holds
  T* dgamma = {};  // [cols], or null, and dbeta with it
  T* dbeta = {};
};

template <class T>
void layer_norm_grad(const NormGradient<T>& to, const T* dy, const T* x, const T* gamma,
                     const T* mean, const T* rstd, int64_t rows, int64_t cols) {
  for (int64_t i = 0; to.dgamma && i < cols; ++i) to.dgamma[i] = to.dbeta[i] = 0;
  for (int64_t r = 0; r < rows; ++r, x += cols, dy += cols) {
    T sum = 0, dot = 0;
    for (int64_t i = 0; i < cols; ++i) {
      const T normal = (x[i] - mean[r]) * rstd[r];
      sum += dy[i] * gamma[i];
      dot += dy[i] * gamma[i] * normal;
      if (to.dgamma) to.dgamma[i] += dy[i] * normal, to.dbeta[i] += dy[i];
    }
    for (int64_t i = 0; to.dx && i < cols; ++i) {
      const T normal = (x[i] - mean[r]) * rstd[r];
      const T slope = rstd[r] * (dy[i] * gamma[i] - sum / cols - normal * dot / cols);
      to.dx[r * cols + i] = to.add ? to.dx[r * cols + i] + slope : slope;
    }
  }
}

}  // namespace fovea::naive
