// Rows chosen by number, and strided copies: everything that moves elements without changing them.
#pragma once

#include <cstdint>

#include "fovea/base/shape.h"
#include "fovea/kernel/naive/index.h"

namespace fovea::kernel {

using naive::StridedCopy;

// Permutes, slices, concatenates: y and x are walked with their own steps. T is moved as it is.
template <class T>
void strided_copy(const StridedCopy& how, T* y, const T* x);

// y[i, :] = table[ids[i], :]
template <class T>
void gather_rows(T* y, const T* table, const int32_t* ids, int64_t count, int64_t cols);

// table[ids[i], :] += x[i, :], in the order of i; ids may repeat; a negative id is skipped.
void scatter_add_rows(float* table, const float* x, const int32_t* ids, int64_t count,
                      int64_t cols);
inline void scatter_add_rows(double* table, const double* x, const int32_t* ids, int64_t count,
                             int64_t cols) {
  naive::scatter_add_rows(table, x, ids, count, cols);
}

}  // namespace fovea::kernel
