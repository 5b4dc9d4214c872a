// kernel/sparse.h as plain loops.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fovea::naive {

// The entries of a sparse matrix row by row: entry e of row i, for e from offsets[i] to offsets[i +
// 1] - 1, stands in column columns[e] and has the value of number places[e] (of its own number
// without places, as where rows and columns have changed places).
struct SparseRows {
  int64_t rows = 0;
  const int64_t* offsets = nullptr;  // [rows + 1]
  const int32_t* columns = nullptr;
  const int32_t* places = nullptr;  // may be null

  int64_t place(int64_t e) const { return places ? places[e] : e; }
};

// y[rows, width] = A x[columns, width]
template <class T>
void sparse_matmul(const SparseRows& a, const T* values, const T* x, T* y, int64_t width) {
  for (int64_t i = 0; i < a.rows; ++i) {
    std::fill_n(y + i * width, width, T(0));
    for (int64_t e = a.offsets[i]; e < a.offsets[i + 1]; ++e) {
      for (int64_t c = 0; c < width; ++c) {
        y[i * width + c] += values[a.place(e)] * x[a.columns[e] * width + c];
      }
    }
  }
}

}  // namespace fovea::naive
