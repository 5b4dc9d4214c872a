#include "fovea/op/sparse.h"

#include "fovea/kernel/sparse.h"

namespace fovea {

SparseMatrix::SparseMatrix(int64_t columns, std::vector<int64_t> offsets,
                           std::vector<int32_t> column_of, std::vector<float> values) {
  const auto entries = static_cast<int64_t>(column_of.size());
  check(!offsets.empty() && offsets.front() == 0 && offsets.back() == entries &&
            std::ranges::is_sorted(offsets),
        "sparse matrix: offsets must rise from 0 to the number of entries, ", entries);
  check(values.size() == column_of.size(), "sparse matrix: needs a value for each of ", entries,
        " entries, got ", values.size());
  Stored made{.columns = columns,
              .offsets = std::move(offsets),
              .column_of = std::move(column_of),
              .values = Tensor::adopt({entries}, std::move(values)),
              .by_column = std::vector<int64_t>(static_cast<size_t>(columns) + 1),
              .row_of = std::vector<int32_t>(static_cast<size_t>(entries)),
              .place_of = std::vector<int32_t>(static_cast<size_t>(entries))};
  for (int32_t c : made.column_of) {
    check(c >= 0 && c < columns, "sparse matrix: column ", c, " is outside [0, ", columns, ")");
    ++made.by_column[static_cast<size_t>(c) + 1];
  }
  for (size_t c = 0; c < static_cast<size_t>(columns); ++c) {
    made.by_column[c + 1] += made.by_column[c];
  }
  std::vector<int64_t> next(made.by_column.begin(), made.by_column.end() - 1);
  for (size_t i = 0; i + 1 < made.offsets.size(); ++i) {
    for (int64_t e = made.offsets[i]; e < made.offsets[i + 1]; ++e) {
      const int64_t at = next[static_cast<size_t>(made.column_of[static_cast<size_t>(e)])]++;
      made.row_of[static_cast<size_t>(at)] = static_cast<int32_t>(i);
      made.place_of[static_cast<size_t>(at)] = static_cast<int32_t>(e);
    }
  }
  stored_ = std::make_shared<const Stored>(std::move(made));
}

Tensor SparseMatrix::product(const Stored& a, const Tensor& values, const Tensor& x,
                             bool transposed) {
  const auto rows = static_cast<int64_t>(a.offsets.size()) - 1;
  const kernel::SparseRows lists =
      transposed
          ? kernel::SparseRows{a.columns, a.by_column.data(), a.row_of.data(), a.place_of.data()}
          : kernel::SparseRows{rows, a.offsets.data(), a.column_of.data()};
  Tensor y({lists.rows, x.dim(1)}, x.dtype());
  const Tensor same = values.to(x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::sparse_matmul(lists, same.read<T>().data(), x.read<T>().data(), y.write<T>().data(),
                          x.dim(1));
  });
  return y;
}

Tensor SparseMatrix::operator()(const Tensor& x, const Tensor& values) const {
  check(x.rank() == 2 && x.dim(0) == columns(), "sparse matrix: needs an array of ", columns(),
        " rows, got ", x.shape());
  const Tensor used = values.empty() ? stored_->values : values;
  check(used.shape() == stored_->values.shape(), "sparse matrix: needs ", stored_->values.shape(),
        " values, got ", used.shape());
  return record("sparse_matmul", {x}, product(*stored_, used, x, false),
                [a = stored_, used](const Tensor& dy, InputGradients& dx) {
                  dx.add(0, product(*a, used, dy, true));
                });
}

}  // namespace fovea
