// A sparse matrix of constants times an array: of bags of words, of a graph's neighbours.
#pragma once

#include <memory>
#include <vector>

#include "fovea/op/tape.h"

namespace fovea {

// Not changed once it is made; a copy shares everything.
class SparseMatrix {
 public:
  SparseMatrix() = default;  // of no rows and columns
  // Row by row: the entries of row i are those from offsets[i] to offsets[i + 1] - 1. A column may
  // come twice in a row, and then its values are added.
  SparseMatrix(int64_t columns, std::vector<int64_t> offsets, std::vector<int32_t> column_of,
               std::vector<float> values);

  // Its sizes.
  int64_t rows() const { return stored_ ? static_cast<int64_t>(stored_->offsets.size()) - 1 : 0; }
  int64_t columns() const { return stored_ ? stored_->columns : 0; }
  // Whether it is what SparseMatrix() makes, which has none of the lists below.
  bool empty() const { return !stored_; }
  const Tensor& values() const { return stored_->values; }  // [entries]
  // As the constructor took them: where rows begin, and the column of each entry.
  std::vector<int64_t> const& offsets() const { return stored_->offsets; }
  std::vector<int32_t> const& column_of() const { return stored_->column_of; }

  // A x: x is [columns, n], the result [rows, n]. `values`, where they are given, stand in for the
  // matrix's own, as after dropout; they have no gradient.
  Tensor operator()(const Tensor& x, const Tensor& values = {}) const;

 private:
  struct Stored {
    int64_t columns;
    std::vector<int64_t> offsets;
    std::vector<int32_t> column_of;
    Tensor values;
    // The same by columns, for the adjoint.
    std::vector<int64_t> by_column;
    std::vector<int32_t> row_of, place_of;
  };
  static Tensor product(const Stored& a, const Tensor& values, const Tensor& x, bool transposed);

  std::shared_ptr<const Stored> stored_;
};

}  // namespace fovea
