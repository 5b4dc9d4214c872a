// A sparse matrix times a dense one: bags of words times a layer's weights, the sums over a node's
// neighbours. The product with the transposed matrix is the same with the entries by column.
#pragma once

#include "fovea/kernel/naive/sparse.h"

namespace fovea::kernel {

using naive::sparse_matmul;
using naive::SparseRows;

// y[rows, width] = A x[columns, width]; every sum goes through a row's entries in their order.
void sparse_matmul(const SparseRows& a, const float* values, const float* x, float* y,
                   int64_t width);

}  // namespace fovea::kernel
