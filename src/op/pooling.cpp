#include "fovea/op/pooling.h"

#include <limits>

#include "fovea/kernel/pooling.h"

namespace fovea {
namespace {

using kernel::Pooling;
using Axis = naive::ConvAxis;

Axis axis_of(const char* name, const Shape& x, int64_t size, int64_t kernel, int64_t stride,
             int64_t padding) {
  check(kernel >= 1 && stride >= 0, name,
        ": needs a kernel of 1 or more and no negative stride, got ", kernel, " and ", stride);
  check(padding >= 0 && padding < kernel, name, ": padding needs to be less than the kernel's ",
        kernel, " and not negative, got ", padding);
  check(kernel <= size + 2 * padding, name, ": a window of ", kernel, " does not fit into ",
        size + 2 * padding, " places, x of shape ", x, " with its padding");
  return {.size = size,
          .kernel = kernel,
          .stride = stride == 0 ? kernel : stride,
          .before = padding,
          .after = padding};
}

template <class Options>
Pooling over_sequence(const char* name, const Tensor& x, const Options& options) {
  check(x.rank() == 3, name, ": needs x [B, T, C], got ", x.shape());
  return {.batch = x.dim(0),
          .channels = x.dim(2),
          .h = {.size = 1, .kernel = 1},
          .w = axis_of(name, x.shape(), x.dim(1), options.kernel, options.stride, options.padding)};
}

template <class Options>
Pooling over_image(const char* name, const Tensor& x, const Options& options) {
  check(x.rank() == 4, name, ": needs x [B, H, W, C], got ", x.shape());
  check(x.dim(1) * x.dim(2) <= std::numeric_limits<int32_t>::max(), name,
        ": an image may have at most 2^31 - 1 pixels, got ", x.shape());
  const auto axis = [&](int i, int64_t HeightWidth::*side) {
    return axis_of(name, x.shape(), x.dim(i), options.kernel.*side, options.stride.*side,
                   options.padding.*side);
  };
  return {.batch = x.dim(0),
          .channels = x.dim(3),
          .h = axis(1, &HeightWidth::height),
          .w = axis(2, &HeightWidth::width)};
}

Shape shape_of(const Pooling& p, const Tensor& x) {
  if (x.rank() == 3) return {p.batch, p.w.positions(), p.channels};
  return {p.batch, p.h.positions(), p.w.positions(), p.channels};
}

Tensor max_pool(const char* name, const Pooling& p, const Tensor& x) {
  Tensor y(shape_of(p, x), x.dtype()), at(y.shape(), Dtype::i32);
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::max_pool(p, y.write<T>().data(), at.write<int32_t>().data(), x.read<T>().data());
  });
  return record(name, {x}, y, [p, at, shape = x.shape()](const Tensor& dy, InputGradients& dx) {
    Tensor g(shape, dy.dtype());
    with_real(dy.dtype(), [&]<class T>(T) {
      kernel::max_pool_grad(p, g.write<T>().data(), dy.read<T>().data(), at.read<int32_t>().data());
    });
    dx.add(0, g);
  });
}

Tensor avg_pool(const char* name, Pooling p, bool count_padding, const Tensor& x) {
  p.count_padding = count_padding;
  Tensor y(shape_of(p, x), x.dtype());
  with_real(x.dtype(),
            [&]<class T>(T) { kernel::avg_pool(p, y.write<T>().data(), x.read<T>().data()); });
  return record(name, {x}, y, [p, shape = x.shape()](const Tensor& dy, InputGradients& dx) {
    Tensor g(shape, dy.dtype());
    with_real(dy.dtype(), [&]<class T>(T) {
      kernel::avg_pool_grad(p, g.write<T>().data(), dy.read<T>().data());
    });
    dx.add(0, g);
  });
}

}  // namespace

Tensor max_pool1d(const Tensor& x, const MaxPool1dOptions& options) {
  return max_pool("max_pool1d", over_sequence("max_pool1d", x, options), x);
}
Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options) {
  return max_pool("max_pool2d", over_image("max_pool2d", x, options), x);
}
Tensor avg_pool1d(const Tensor& x, const AvgPool1dOptions& options) {
  return avg_pool("avg_pool1d", over_sequence("avg_pool1d", x, options), options.count_padding, x);
}
Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options) {
  return avg_pool("avg_pool2d", over_image("avg_pool2d", x, options), options.count_padding, x);
}

}  // namespace fovea
