#include "fovea/op/reduce.h"

#include "fovea/kernel/index.h"
#include "fovea/kernel/reduce.h"
#include "fovea/op/elementwise.h"

namespace fovea {
namespace {

// x seen as [outer, n, inner] around an axis, or a range of axes.
struct Around {
  int64_t outer, n, inner;
};

Around around(const Shape& shape, int from, int to) {
  return {shape.product(0, from), shape.product(from, to), shape.product(to, shape.rank())};
}

Shape without(const Shape& shape, int axis, bool keep) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != axis) result.push_back(shape[i]);
    if (i == axis && keep) result.push_back(1);
  }
  return result;
}

Tensor sum_around(const Tensor& x, const Around& a, const Shape& shape) {
  Tensor y(shape, x.dtype());
  if (y.elements() == 0) return y;
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::sum_axis(y.write<T>().data(), x.read<T>().data(), a.outer, a.n, a.inner);
  });
  return y;
}

}  // namespace

Tensor sum(const Tensor& x, int axis, bool keep) {
  const int at = x.shape().index(axis);
  Tensor y = sum_around(x, around(x.shape(), at, at + 1), without(x.shape(), at, keep));
  return record("sum", {x}, y, [shape = x.shape(), at](const Tensor& dy, InputGradients& dx) {
    Shape kept = shape;
    kept.set(at, 1);
    dx.add(0, broadcast_to(dy.reshaped(kept), shape));
  });
}

Tensor mean(const Tensor& x, int axis, bool keep) {
  check(x.dim(axis) > 0, "mean: axis ", axis, " of ", x.shape(), " is empty");
  return sum(x, axis, keep) / static_cast<double>(x.dim(axis));
}

Tensor sum(const Tensor& x) {
  Tensor y = sum_around(x, {1, x.elements(), 1}, {});
  return record("sum", {x}, y, [shape = x.shape()](const Tensor& dy, InputGradients& dx) {
    dx.add(0, Tensor::full(shape, dy.item(), dy.dtype()));
  });
}

Tensor mean(const Tensor& x) {
  check(x.elements() > 0, "mean: ", x.shape(), " is empty");
  return sum(x) / static_cast<double>(x.elements());
}

namespace {

struct Maximum {
  Tensor value, at;
};

Maximum max_around(const Tensor& x, int at, bool keep) {
  const Around a = around(x.shape(), at, at + 1);
  check(a.n > 0, "max: axis ", at, " of ", x.shape(), " is empty");
  const Shape shape = without(x.shape(), at, keep);
  Maximum m{Tensor(shape, x.dtype()), Tensor(shape, Dtype::i32)};
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::max_axis(m.value.write<T>().data(), m.at.write<int32_t>().data(), x.read<T>().data(),
                     a.outer, a.n, a.inner);
  });
  return m;
}

}  // namespace

Tensor max(const Tensor& x, int axis, bool keep) {
  const int at = x.shape().index(axis);
  const Maximum m = max_around(x, at, keep);
  return record("max", {x}, m.value,
                [shape = x.shape(), at, where = m.at](const Tensor& dy, InputGradients& dx) {
                  Tensor g = Tensor::zeros(shape, dy.dtype());
                  const Around a = around(shape, at, at + 1);
                  const auto best = where.read<int32_t>();
                  with_real(dy.dtype(), [&]<class T>(T) {
                    const auto from = dy.read<T>();
                    const auto to = g.write<T>();
                    for (int64_t i = 0; i < dy.elements(); ++i) {
                      to[(i / a.inner * a.n + best[i]) * a.inner + i % a.inner] = from[i];
                    }
                  });
                  dx.add(0, g);
                });
}

Tensor argmax(const Tensor& x, int axis) { return max_around(x, x.shape().index(axis), false).at; }

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  check(x.rank() >= shape.rank(), "sum_to: ", x.shape(), " cannot be summed to ", shape);
  Tensor y = x;
  // Runs of neighbouring axes that were repeated are summed as one, the innermost run first.
  const int extra = x.rank() - shape.rank();
  auto repeated = [&](int axis) {
    const bool outside = axis < extra;
    check(outside || shape[axis - extra] == x.dim(axis) || shape[axis - extra] == 1,
          "sum_to: ", x.shape(), " cannot be summed to ", shape);
    return outside || shape[axis - extra] != x.dim(axis);
  };
  Shape now = x.shape();
  for (int to = x.rank(); to > 0;) {
    int from = to;
    while (from > 0 && repeated(from - 1)) --from;
    if (from < to) {
      const Around a = around(now, from, to);
      for (int i = from; i < to; ++i) now.set(i, 1);
      y = sum_around(y, a, now);
      to = from;
    } else {
      --to;
    }
  }
  y = y.reshaped(shape);
  return record("sum_to", {x}, y, [full = x.shape()](const Tensor& dy, InputGradients& dx) {
    dx.add(0, broadcast_to(dy, full));
  });
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int extra = shape.rank() - x.rank();
  check(extra >= 0, "broadcast_to: ", x.shape(), " does not broadcast to ", shape);
  kernel::StridedCopy how{.rank = shape.rank()};
  int64_t step_y = 1, step_x = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    const int64_t dim = i >= extra ? x.dim(i - extra) : 1;
    check(dim == shape[i] || dim == 1, "broadcast_to: ", x.shape(), " does not broadcast to ",
          shape);
    how.dims[i] = shape[i];
    how.step_y[i] = step_y;
    how.step_x[i] = dim == 1 ? 0 : step_x;
    step_y *= shape[i];
    step_x *= dim;
  }
  Tensor y(shape, x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::strided_copy(how, y.write<T>().data(), x.read<T>().data());
  });
  return record("broadcast_to", {x}, y, [small = x.shape()](const Tensor& dy, InputGradients& dx) {
    dx.add(0, sum_to(dy, small));
  });
}

}  // namespace fovea
