// Softmax along rows x[rows, cols]. A row of nothing but -inf gives zeros, never NaN.
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/softmax.h"

namespace fovea::kernel {

void softmax(float* y, const float* x, int64_t rows, int64_t cols);
// dx = y (dy - sum(dy y))
void softmax_grad(float* dx, const float* dy, const float* y, int64_t rows, int64_t cols);
void log_softmax(float* y, const float* x, int64_t rows, int64_t cols);
// dx = dy - e^y sum(dy)
void log_softmax_grad(float* dx, const float* dy, const float* y, int64_t rows, int64_t cols);

inline void softmax(double* y, const double* x, int64_t rows, int64_t cols) {
  naive::softmax(y, x, rows, cols);
}
inline void softmax_grad(double* dx, const double* dy, const double* y, int64_t rows,
                         int64_t cols) {
  naive::softmax_grad(dx, dy, y, rows, cols);
}
inline void log_softmax(double* y, const double* x, int64_t rows, int64_t cols) {
  naive::log_softmax(y, x, rows, cols);
}
inline void log_softmax_grad(double* dx, const double* dy, const double* y, int64_t rows,
                             int64_t cols) {
  naive::log_softmax_grad(dx, dy, y, rows, cols);
}

// Cross-entropy of logits[rows, cols] with one target a row, without the probabilities in memory.
// With label smoothing s the target is (1 - s) one-hot + s / cols. A negative target skips its row.
struct CrossEntropy {
  int64_t rows, cols;
  float smoothing;
};
// loss[rows] and lse[rows] = log sum exp, which the gradient needs.
void cross_entropy(const CrossEntropy& how, float* loss, float* lse, const float* logits,
                   const int32_t* targets);
// dx = dloss[row] (softmax - target)
void cross_entropy_grad(const CrossEntropy& how, float* dx, const float* dloss, const float* logits,
                        const float* lse, const int32_t* targets);
inline void cross_entropy(const CrossEntropy& how, double* loss, double* lse, const double* logits,
                          const int32_t* targets) {
  naive::cross_entropy(how, loss, lse, logits, targets);
}
inline void cross_entropy_grad(const CrossEntropy& how, double* dx, const double* dloss,
                               const double* logits, const double* lse, const int32_t* targets) {
  naive::cross_entropy_grad(how, dx, dloss, logits, lse, targets);
}

}  // namespace fovea::kernel
