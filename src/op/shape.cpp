#include "fovea/op/shape.h"

#include <algorithm>

#include "fovea/kernel/binary.h"
#include "fovea/kernel/index.h"

namespace fovea {
namespace {

using kernel::StridedCopy;

// Calls f(T{}) for the type the array holds, int32 included: moving works for ids too.
template <class F>
void with_any(Dtype dtype, F&& f) {
  if (dtype == Dtype::i32) return f(int32_t{});
  with_real(dtype, f);
}

void copy(const StridedCopy& how, Tensor& y, int64_t at_y, const Tensor& x, int64_t at_x) {
  for (int i = 0; i < how.rank; ++i) {
    if (how.dims[i] == 0) return;
  }
  with_any(x.dtype(), [&]<class T>(T) {
    kernel::strided_copy(how, y.write<T>().data() + at_y, x.read<T>().data() + at_x);
  });
}

// Rows of `length` consecutive elements, one for each of `outer`; steps from row to row.
StridedCopy rows(int64_t outer, int64_t length, int64_t step_y, int64_t step_x) {
  return {2, {outer, length}, {step_y, 1}, {step_x, 1}};
}

Tensor permuted(const Tensor& x, std::span<const int> order) {
  const int rank = x.rank();
  int64_t step_x[Shape::max_rank];
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    step_x[i] = step;
    step *= x.dim(i);
  }
  Shape shape;
  StridedCopy how{.rank = rank};
  for (int i = 0; i < rank; ++i) {
    shape.push_back(x.dim(order[i]));
    how.dims[i] = x.dim(order[i]);
    how.step_x[i] = step_x[order[i]];
  }
  step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    how.step_y[i] = step;
    step *= how.dims[i];
  }
  Tensor y(shape, x.dtype());
  copy(how, y, 0, x, 0);
  return y;
}

// Adds part to elements [from, from + part.dim(axis)) of sum's axis.
void add_at(Tensor& sum, int axis, int64_t from, const Tensor& part) {
  const int64_t outer = sum.shape().product(0, axis);
  const int64_t inner = sum.shape().product(axis + 1, sum.rank());
  const int64_t length = part.dim(axis) * inner, stride = sum.dim(axis) * inner;
  if (length == 0) return;
  const kernel::Broadcast run{.rank = 1, .dims = {length}, .step_a = {1}, .step_b = {1}};
  with_real(sum.dtype(), [&]<class T>(T) {
    T* to = sum.write<T>().data() + from * inner;
    const T* add = part.read<T>().data();
    for (int64_t o = 0; o < outer; ++o, to += stride, add += length) {
      kernel::binary(kernel::Binary::add, to, to, add, run);
    }
  });
}

Tensor permute(const Tensor& x, std::span<const int> wanted) {
  check(static_cast<int>(wanted.size()) == x.rank(), "permute: ", x.shape(), " has ", x.rank(),
        " axes, the order names ", wanted.size());
  std::vector<int> order(wanted.size()), back(wanted.size(), -1);
  for (int i = 0; i < x.rank(); ++i) {
    order[i] = x.shape().index(wanted[i]);
    check(back[order[i]] < 0, "permute: the order names axis ", order[i], " twice");
    back[order[i]] = i;
  }
  return record("permute", {x}, permuted(x, order),
                [back](const Tensor& dy, InputGradients& dx) { dx.add(0, permuted(dy, back)); });
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return record(
      "reshape", {x}, x.reshaped(shape),
      [before = x.shape()](const Tensor& dy, auto& dx) { dx.add(0, dy.reshaped(before)); });
}

Tensor reshape(const Tensor& x, std::initializer_list<int64_t> dims) {
  Shape shape;
  int left = -1;
  for (int64_t dim : dims) {
    if (dim == -1) {
      check(left < 0, "reshape: only one axis may be -1");
      left = shape.rank();
    }
    shape.push_back(dim == -1 ? 1 : dim);
  }
  if (left >= 0) {
    const int64_t rest = shape.elements();
    check(rest > 0 && x.elements() % rest == 0, "reshape: ", x.shape(), " does not fit ", shape,
          " with an axis left open");
    shape.set(left, x.elements() / rest);
  }
  return reshape(x, shape);
}

Tensor permute(const Tensor& x, std::initializer_list<int> order) {
  return permute(x, std::span(order.begin(), order.size()));
}

Tensor transposed(const Tensor& x) {
  check(x.rank() >= 2, "transposed: needs at least 2 axes, got ", x.shape());
  std::vector<int> order(x.rank());
  for (int i = 0; i < x.rank(); ++i) order[i] = i;
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  return permute(x, order);
}

Tensor slice(const Tensor& x, int axis, int64_t from, int64_t to) {
  const int at = x.shape().index(axis);
  const int64_t n = x.dim(at);
  check(0 <= from && from <= to && to <= n, "slice: [", from, ", ", to, ") is not inside axis ",
        axis, " of ", x.shape());
  Shape shape = x.shape();
  shape.set(at, to - from);
  const int64_t outer = shape.product(0, at), inner = shape.product(at + 1, shape.rank());
  Tensor y(shape, x.dtype());
  copy(rows(outer, (to - from) * inner, (to - from) * inner, n * inner), y, 0, x, from * inner);
  return record("slice", {x}, y, [at, from, n, to](const Tensor& dy, InputGradients& dx) {
    // A model that walks a sequence slices it once a step: adding to the sum in place keeps the
    // gradient of n slices from costing n whole arrays.
    if (Tensor* sum = dx.begun(0)) return add_at(*sum, at, from, dy);
    dx.add(0, pad(dy, at, from, n - to));
  });
}

Tensor pad(const Tensor& x, int axis, int64_t before, int64_t after) {
  const int at = x.shape().index(axis);
  check(before >= 0 && after >= 0, "pad: needs sizes of at least 0, got ", before, " and ", after);
  const int64_t n = x.dim(at), all = before + n + after;
  Shape shape = x.shape();
  shape.set(at, all);
  const int64_t outer = shape.product(0, at), inner = shape.product(at + 1, shape.rank());
  Tensor y = Tensor::zeros(shape, x.dtype());
  copy(rows(outer, n * inner, all * inner, n * inner), y, before * inner, x, 0);
  return record("pad", {x}, y, [at, before, n](const Tensor& dy, InputGradients& dx) {
    dx.add(0, slice(dy, at, before, before + n));
  });
}

Tensor concat(std::span<const Tensor> parts, int axis) {
  check(!parts.empty(), "concat: needs at least one part");
  const int at = parts[0].shape().index(axis);
  Shape shape = parts[0].shape();
  std::vector<int64_t> starts;
  int64_t all = 0;
  for (const Tensor& part : parts) {
    Shape expected = shape;
    expected.set(at, part.rank() == shape.rank() ? part.dim(at) : 0);
    check(part.shape() == expected && part.dtype() == parts[0].dtype(),
          "concat: parts must agree on all axes but ", axis, " and on type, got ", parts[0].shape(),
          " and ", part.shape());
    starts.push_back(all);
    all += part.dim(at);
  }
  shape.set(at, all);
  starts.push_back(all);
  const int64_t outer = shape.product(0, at), inner = shape.product(at + 1, shape.rank());
  Tensor y(shape, parts[0].dtype());
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t length = (starts[i + 1] - starts[i]) * inner;
    copy(rows(outer, length, all * inner, length), y, starts[i] * inner, parts[i], 0);
  }
  return record("concat", parts, y, [at, starts](const Tensor& dy, InputGradients& dx) {
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      if (dx.wants(static_cast<int>(i))) {
        dx.add(static_cast<int>(i), slice(dy, at, starts[i], starts[i + 1]));
      }
    }
  });
}

Tensor stack(std::span<const Tensor> parts, int axis) {
  check(!parts.empty(), "stack: needs at least one part");
  const int rank = parts[0].rank(), at = axis < 0 ? axis + rank + 1 : axis;
  check(at >= 0 && at <= rank, "stack: no place ", axis, " for a new axis in ", parts[0].shape());
  std::vector<Tensor> wide;
  for (const Tensor& part : parts) {
    Shape shape;
    for (int i = 0; i <= part.rank(); ++i) {
      if (i == at) shape.push_back(1);
      if (i < part.rank()) shape.push_back(part.dim(i));
    }
    wide.push_back(reshape(part, shape));
  }
  return concat(wide, at);
}

}  // namespace fovea
