// Matrix products: C = alpha op(A) op(B) + beta C, row-major, op transposes or not.
#pragma once

#include <cstdint>
#include <span>

#include "fovea/base/parallel.h"
#include "fovea/kernel/naive/gemm.h"

namespace fovea::kernel {

using naive::Gemm;

// The cut into tasks depends on the sizes alone: same bits with any number of threads.
// With beta = 0 a bias of n elements may be added to every row. `then` is called with every range
// of C's rows once they are final, while they are at hand: what follows element by element.
void gemm(const Gemm& g, const float* a, const float* b, float* c, const float* bias = nullptr,
          const ChunkBody* then = nullptr);
inline void gemm(const Gemm& g, const double* a, const double* b, double* c,
                 const double* bias = nullptr, const ChunkBody* then = nullptr) {
  naive::gemm(g, a, b, c, bias);
  if (then && g.m > 0) (*then)(0, g.m);
}
// Also row_sums[m], what each row of op(A) adds up to: with A^T B the gradients of a weight and of
// its bias in one pass over A.
void gemm_with_row_sums(const Gemm& g, const float* a, const float* b, float* c, float* row_sums);
using naive::gemm_with_row_sums;

// Products that belong together, as if one after the other, with all threads on all of them at
// once. Those that take A as it is have one m: some rows go through all of them while they are at
// hand, and one may add to what those before it made of its C (beta = 1).
using naive::GemmItem;
void gemm_group(std::span<const GemmItem<float>> items);
using naive::gemm_group;

// `count` products of equal sizes; matrix i of A starts at a + at(i).a, and so on.
struct GemmBatch {
  int64_t count;
  const int64_t* at_a;  // offsets in elements, one for each product
  const int64_t* at_b;
  const int64_t* at_c;
};
void gemm_batch(const Gemm& g, const GemmBatch& batch, const float* a, const float* b, float* c);
void gemm_batch(const Gemm& g, const GemmBatch& batch, const double* a, const double* b, double* c);

// One product on the calling thread alone, for kernels that cut the work themselves.
void gemm_serial(const Gemm& g, const float* a, const float* b, float* c);
inline void gemm_serial(const Gemm& g, const double* a, const double* b, double* c) {
  naive::gemm(g, a, b, c);
}

// One B for many products: pack() lays alpha op(B) out as they read it, in packed_size() elements
// from an address that is a multiple of 64, and gemm_packed() multiplies on the calling thread. A
// is not transposed.
int64_t packed_size(const Gemm& g);
void pack(const Gemm& g, const float* b, float* to);
void gemm_packed(const Gemm& g, const float* a, const float* packed, float* c,
                 const float* bias = nullptr);

}  // namespace fovea::kernel
