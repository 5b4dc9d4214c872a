#include "fovea/op/conv.h"

#include "fovea/kernel/conv.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

using kernel::Conv;
using kernel::ConvAxis;
using kernel::ConvPass;

void check_axis(const char* name, const ConvAxis& axis, const Shape& x) {
  check(axis.stride >= 1 && axis.dilation >= 1, name,
        ": stride and dilation need to be 1 or more, got ", axis.stride, " and ", axis.dilation);
  check(axis.before >= 0 && axis.after >= 0, name, ": padding cannot be negative, got ",
        std::min(axis.before, axis.after));
  check(axis.kernel >= 1, name, ": the kernel needs a size of 1 or more, got ", axis.kernel);
  check(axis.reach() <= axis.size + axis.before + axis.after, name, ": a kernel of ", axis.kernel,
        " with dilation ", axis.dilation, " reaches over ", axis.reach(), " places, x of shape ", x,
        " with its padding has ", axis.size + axis.before + axis.after);
}

void check_conv(const char* name, const Conv& c, const Tensor& x, const Tensor& weight,
                const Tensor& bias) {
  check(weight.dtype() == x.dtype() && (bias.empty() || bias.dtype() == x.dtype()), name,
        ": x, weight and bias need one type, got ", x.dtype(), ", ", weight.dtype(),
        bias.empty() ? "" : say(" and ", bias.dtype()));
  check(c.in >= 1 && c.out >= 1, name, ": needs at least one channel on both sides, got x ",
        x.shape(), " and weight ", weight.shape());
  check(c.groups >= 1 && c.in % c.groups == 0 && c.out % c.groups == 0, name, ": ", c.groups,
        " groups do not divide ", c.in, " input and ", c.out, " output channels");
  check(weight.dim(-1) == c.in / c.groups, name, ": x of shape ", x.shape(), " in ", c.groups,
        c.groups == 1 ? " group" : " groups", " needs weights for ", c.in / c.groups,
        " channels, got ", weight.shape());
  check(bias.empty() || bias.shape() == Shape{c.out}, name, ": the bias needs shape [", c.out,
        "], got ", bias.empty() ? Shape() : bias.shape());
  check_axis(name, c.h, x.shape());
  check_axis(name, c.w, x.shape());
}

Tensor room_for(const Conv& c, ConvPass pass, Dtype dtype) {
  return Tensor({dtype == Dtype::f32 ? kernel::conv_room(c, pass) : 0}, dtype);
}

Tensor convolve(const char* name, const Conv& c, const Shape& shape, const Tensor& x,
                const Tensor& weight, const Tensor& bias) {
  Tensor y(shape, x.dtype()), room = room_for(c, ConvPass::forward, x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::conv(c, y.write<T>().data(), x.read<T>().data(), weight.read<T>().data(),
                 bias.empty() ? nullptr : bias.read<T>().data(), room.write<T>().data());
  });
  return record(name, {x, weight, bias}, y, [c, x, weight](const Tensor& dy, InputGradients& dx) {
    with_real(x.dtype(), [&]<class T>(T) {
      if (dx.wants(0)) {
        Tensor g(x.shape(), x.dtype()), room = room_for(c, ConvPass::grad_input, x.dtype());
        kernel::conv_grad_input(c, g.write<T>().data(), dy.read<T>().data(),
                                weight.read<T>().data(), room.write<T>().data());
        dx.add(0, g);
      }
      if (dx.wants(1)) {
        Tensor g(weight.shape(), x.dtype()), room = room_for(c, ConvPass::grad_weight, x.dtype());
        kernel::conv_grad_weight(c, g.write<T>().data(), dy.read<T>().data(), x.read<T>().data(),
                                 room.write<T>().data());
        dx.add(1, g);
      }
    });
    if (dx.wants(2)) dx.add(2, sum_to(dy, {c.out}));
  });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv1dOptions& options) {
  check(x.rank() == 3 && weight.rank() == 3,
        "conv1d: needs x [B, T, in] and weight [out, K, in / groups], got ", x.shape(), " and ",
        weight.shape());
  const Conv c{.batch = x.dim(0),
               .in = x.dim(2),
               .out = weight.dim(0),
               .groups = options.groups,
               .h = {.size = 1, .kernel = 1},
               .w = {.size = x.dim(1),
                     .kernel = weight.dim(1),
                     .stride = options.stride,
                     .before = options.padding.before,
                     .after = options.padding.after,
                     .dilation = options.dilation}};
  check_conv("conv1d", c, x, weight, bias);
  return convolve("conv1d", c, {c.batch, c.w.positions(), c.out}, x, weight, bias);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Conv2dOptions& options) {
  check(x.rank() == 4 && weight.rank() == 4,
        "conv2d: needs x [B, H, W, in] and weight [out, KH, KW, in / groups], got ", x.shape(),
        " and ", weight.shape());
  const auto axis = [&](int i, int64_t HeightWidth::*side) {
    return ConvAxis{.size = x.dim(i),
                    .kernel = weight.dim(i),
                    .stride = options.stride.*side,
                    .before = options.padding.*side,
                    .after = options.padding.*side,
                    .dilation = options.dilation.*side};
  };
  const Conv c{.batch = x.dim(0),
               .in = x.dim(3),
               .out = weight.dim(0),
               .groups = options.groups,
               .h = axis(1, &HeightWidth::height),
               .w = axis(2, &HeightWidth::width)};
  check_conv("conv2d", c, x, weight, bias);
  return convolve("conv2d", c, {c.batch, c.h.positions(), c.w.positions(), c.out}, x, weight, bias);
}

}  // namespace fovea
