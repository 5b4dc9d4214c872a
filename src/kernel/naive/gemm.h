// Plain twin of kernel/gemm.
#pragma once

#include <cstdint>
#include <span>

namespace fovea::naive {

struct Gemm {
  bool transpose_a = false, transpose_b = false;
  int64_t m, n, k;        // op(A) is m x k, op(B) is k x n
  int64_t lda, ldb, ldc;  // elements from one stored row to the next
  float alpha = 1, beta = 0;
};

template <class T>
void gemm(const Gemm& g, const T* a, const T* b, T* c, const T* bias = nullptr) {
  for (int64_t i = 0; i < g.m; ++i) {
    for (int64_t j = 0; j < g.n; ++j) {
      T sum = 0;
      for (int64_t l = 0; l < g.k; ++l) {
        sum += a[g.transpose_a ? l * g.lda + i : i * g.lda + l] *
               b[g.transpose_b ? j * g.ldb + l : l * g.ldb + j];
      }
      T& out = c[i * g.ldc + j];
      out = T(g.alpha) * sum + (g.beta == 0 ? T(0) : T(g.beta) * out) + (bias ? bias[j] : T(0));
    }
  }
}

template <class T>
void row_sums(const Gemm& g, const T* a, T* sums) {
  for (int64_t i = 0; i < g.m; ++i) {
    sums[i] = 0;
    for (int64_t l = 0; l < g.k; ++l) sums[i] += a[g.transpose_a ? l * g.lda + i : i * g.lda + l];
  }
}

template <class T>
void gemm_with_row_sums(const Gemm& g, const T* a, const T* b, T* c, T* sums) {
  gemm(g, a, b, c);
  row_sums(g, a, sums);
}

template <class T>
struct GemmItem {
  Gemm g;
  const T *a, *b;
  T* c;
  const T* bias = nullptr;
  T* row_sums = nullptr;  // as gemm_with_row_sums makes them
};

template <class T>
void gemm_group(std::span<const GemmItem<T>> items) {
  for (const GemmItem<T>& item : items) {
    gemm(item.g, item.a, item.b, item.c, item.bias);
    if (item.row_sums) row_sums(item.g, item.a, item.row_sums);
  }
}

}  // namespace fovea::naive
