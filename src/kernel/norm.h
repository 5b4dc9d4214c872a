// Layer normalisation along rows x[rows, cols]: y = (x - mean) rstd gamma + beta.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/norm.h"

namespace fovea::kernel {

// mean[rows] and rstd[rows] = 1 / sqrt(variance + eps) are kept for the gradient.
void layer_norm(float* y, float* mean, float* rstd, const float* x, const float* gamma,
                const float* beta, int64_t rows, int64_t cols, float eps);
inline void layer_norm(double* y, double* mean, double* rstd, const double* x, const double* gamma,
                       const double* beta, int64_t rows, int64_t cols, double eps) {
  naive::layer_norm(y, mean, rstd, x, gamma, beta, rows, cols, eps);
}

void layer_norm_grad(float* dx, const float* dy, const float* x, const float* gamma,
                     const float* mean, const float* rstd, int64_t rows, int64_t cols);
inline void layer_norm_grad(double* dx, const double* dy, const double* x, const double* gamma,
                            const double* mean, const double* rstd, int64_t rows, int64_t cols) {
  naive::layer_norm_grad(dx, dy, x, gamma, mean, rstd, rows, cols);
}

// Gradients of gamma and beta: sums over the rows.
void layer_norm_grad_affine(float* dgamma, float* dbeta, const float* dy, const float* x,
                            const float* mean, const float* rstd, int64_t rows, int64_t cols);
inline void layer_norm_grad_affine(double* dgamma, double* dbeta, const double* dy, const double* x,
                                   const double* mean, const double* rstd, int64_t rows,
                                   int64_t cols) {
  naive::layer_norm_grad_affine(dgamma, dbeta, dy, x, mean, rstd, rows, cols);
}

}  // namespace fovea::kernel
