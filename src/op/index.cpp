#include "fovea/op/index.h"

#include "fovea/kernel/binary.h"
#include "fovea/kernel/index.h"

namespace fovea {
namespace {

void check_ids(const char* op, const Tensor& ids, int64_t rows, int32_t lowest) {
  check(ids.dtype() == Dtype::i32, op, ": ids must be int32, got ", ids.dtype());
  for (int32_t id : ids.read<int32_t>()) {
    check(id >= lowest && id < rows, op, ": id ", id, " is outside [", lowest, ", ", rows, ")");
  }
}

Shape rows_shape(const Shape& lead, const Shape& table) {
  Shape shape = lead;
  for (int i = 1; i < table.rank(); ++i) shape.push_back(table[i]);
  return shape;
}

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids) {
  check(table.rank() >= 1, "embedding: the table needs an axis of rows");
  const int64_t rows = table.dim(0), cols = table.shape().product(1, table.rank());
  check_ids("embedding", ids, rows, 0);
  Tensor y(rows_shape(ids.shape(), table.shape()), table.dtype());
  with_real(table.dtype(), [&]<class T>(T) {
    kernel::gather_rows(y.write<T>().data(), table.read<T>().data(), ids.read<int32_t>().data(),
                        ids.elements(), cols);
  });
  return record("embedding", {table}, y, [ids, rows](const Tensor& dy, InputGradients& dx) {
    dx.add(0, scatter_add(dy, ids, rows));
  });
}

Tensor scatter_add(const Tensor& x, const Tensor& ids, int64_t rows) {
  check_ids("scatter_add", ids, rows, -1);
  const int lead = ids.rank();
  check(x.rank() >= lead && Shape(std::span(x.shape().begin(), lead)) == ids.shape(),
        "scatter_add: x ", x.shape(), " must begin with the shape of ids ", ids.shape());
  Shape shape{rows};
  for (int i = lead; i < x.rank(); ++i) shape.push_back(x.dim(i));
  Tensor y = Tensor::zeros(shape, x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::scatter_add_rows(y.write<T>().data(), x.read<T>().data(), ids.read<int32_t>().data(),
                             ids.elements(), shape.product(1, shape.rank()));
  });
  return record("scatter_add", {x}, y, [ids](const Tensor& dy, InputGradients& dx) {
    // Rows that a negative id left out get no gradient.
    Tensor g = Tensor::zeros(rows_shape(ids.shape(), dy.shape()), dy.dtype());
    const int64_t cols = dy.shape().product(1, dy.rank());
    const auto at = ids.read<int32_t>();
    with_real(dy.dtype(), [&]<class T>(T) {
      const auto from = dy.read<T>();
      const auto to = g.write<T>();
      for (int64_t i = 0; i < ids.elements(); ++i) {
        if (at[i] >= 0) std::copy_n(&from[at[i] * cols], cols, &to[i * cols]);
      }
    });
    dx.add(0, g);
  });
}

Tensor pick(const Tensor& x, const Tensor& ids) {
  check(
      x.rank() == ids.rank() + 1 && Shape(std::span(x.shape().begin(), ids.rank())) == ids.shape(),
      "pick: ids ", ids.shape(), " must have the shape of x ", x.shape(), " without its last axis");
  const int64_t cols = x.dim(-1);
  check_ids("pick", ids, cols, 0);
  Tensor y(ids.shape(), x.dtype());
  const auto at = ids.read<int32_t>();
  with_real(x.dtype(), [&]<class T>(T) {
    const auto from = x.read<T>();
    const auto to = y.write<T>();
    for (int64_t i = 0; i < y.elements(); ++i) to[i] = from[i * cols + at[i]];
  });
  return record("pick", {x}, y, [ids, shape = x.shape()](const Tensor& dy, InputGradients& dx) {
    Tensor g = Tensor::zeros(shape, dy.dtype());
    const auto at = ids.read<int32_t>();
    with_real(dy.dtype(), [&]<class T>(T) {
      const auto from = dy.read<T>();
      const auto to = g.write<T>();
      for (int64_t i = 0; i < dy.elements(); ++i) to[i * shape[-1] + at[i]] = from[i];
    });
    dx.add(0, g);
  });
}

namespace {

Tensor chosen(const Tensor& mask, const Tensor& x, double otherwise) {
  const kernel::Broadcast how = kernel::broadcast(mask.shape(), x.shape());
  Tensor y(x.shape(), x.dtype());
  const auto set = mask.read<int32_t>();
  with_real(x.dtype(), [&]<class T>(T) {
    const auto from = x.read<T>();
    const auto to = y.write<T>();
    // Along the last axis the mask goes in steps of 0 or 1.
    const int64_t row = how.rank > 0 ? how.dims[how.rank - 1] : 1;
    const int64_t step = how.rank > 0 ? how.step_a[how.rank - 1] : 0;
    for (int64_t i = 0; i < x.elements(); i += row) {
      int64_t rest = i / row, at = 0;
      for (int axis = how.rank - 2; axis >= 0; --axis) {
        at += rest % how.dims[axis] * how.step_a[axis];
        rest /= how.dims[axis];
      }
      for (int64_t j = 0; j < row; ++j) to[i + j] = set[at + j * step] ? from[i + j] : T(otherwise);
    }
  });
  return y;
}

}  // namespace

Tensor where(const Tensor& mask, const Tensor& x, double otherwise) {
  check(mask.dtype() == Dtype::i32, "where: the mask must be int32, got ", mask.dtype());
  check(kernel::broadcast_shape(mask.shape(), x.shape()) == x.shape(), "where: the mask ",
        mask.shape(), " does not broadcast to ", x.shape());
  return record("where", {x}, chosen(mask, x, otherwise),
                [mask](const Tensor& dy, auto& dx) { dx.add(0, chosen(mask, dy, 0)); });
}

}  // namespace fovea
