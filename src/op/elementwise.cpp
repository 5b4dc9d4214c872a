#include "fovea/op/elementwise.h"

#include "fovea/kernel/binary.h"
#include "fovea/kernel/unary.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

using kernel::Binary;
using kernel::Unary;

Tensor binary(const char* name, Binary f, const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), name, ": both sides need one type, got ", a.dtype(), " and ",
        b.dtype());
  const bool same = a.shape() == b.shape();
  Tensor y(same ? a.shape() : kernel::broadcast_shape(a.shape(), b.shape()), a.dtype());
  if (y.elements() == 0) return y;
  with_real(y.dtype(), [&]<class T>(T) {
    kernel::binary(f, y.write<T>().data(), a.read<T>().data(), b.read<T>().data(),
                   kernel::broadcast(a.shape(), b.shape()));
  });
  return y;
}

// 1 where a wins, 0 where b does: the slope of maximum and minimum with respect to a.
Tensor winner(const Tensor& a, const Tensor& b, bool larger) {
  const Tensor away = larger ? binary("maximum", Binary::subtract, b, a)
                             : binary("minimum", Binary::subtract, a, b);
  Tensor won(away.shape(), away.dtype());
  with_real(won.dtype(), [&]<class T>(T) {
    std::ranges::transform(away.read<T>(), won.write<T>().begin(),
                           [](T x) { return x <= 0 ? T(1) : T(0); });
  });
  return won;
}

Tensor extreme(const char* name, Binary f, const Tensor& a, const Tensor& b) {
  return record(name, {a, b}, binary(name, f, a, b),
                [a, b, larger = f == Binary::maximum](const Tensor& dy, InputGradients& dx) {
                  const Tensor to_a = dy * winner(a, b, larger);
                  if (dx.wants(0)) dx.add(0, sum_to(to_a, a.shape()));
                  if (dx.wants(1)) dx.add(1, sum_to(dy - to_a, b.shape()));
                });
}

Tensor unary(const char* name, Unary f, const Tensor& x, double a = 0, double b = 0) {
  Tensor y(x.shape(), x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::unary(f, y.write<T>().data(), x.read<T>().data(), x.elements(), T(a), T(b));
  });
  return record(name, {x}, y, [f, x, y, a, b](const Tensor& dy, InputGradients& dx) {
    Tensor g(x.shape(), x.dtype());
    with_real(x.dtype(), [&]<class T>(T) {
      kernel::unary_grad(f, g.write<T>().data(), dy.read<T>().data(), x.read<T>().data(),
                         y.read<T>().data(), x.elements(), T(a), T(b));
    });
    dx.add(0, g);
  });
}

}  // namespace

Tensor operator+(const Tensor& a, const Tensor& b) {
  return record("add", {a, b}, binary("add", Binary::add, a, b),
                [sa = a.shape(), sb = b.shape()](const Tensor& dy, InputGradients& dx) {
                  if (dx.wants(0)) dx.add(0, sum_to(dy, sa));
                  if (dx.wants(1)) dx.add(1, sum_to(dy, sb));
                });
}

Tensor operator-(const Tensor& a, const Tensor& b) {
  return record("subtract", {a, b}, binary("subtract", Binary::subtract, a, b),
                [sa = a.shape(), sb = b.shape()](const Tensor& dy, InputGradients& dx) {
                  if (dx.wants(0)) dx.add(0, sum_to(dy, sa));
                  if (dx.wants(1)) dx.add(1, -sum_to(dy, sb));
                });
}

Tensor operator*(const Tensor& a, const Tensor& b) {
  return record("multiply", {a, b}, binary("multiply", Binary::multiply, a, b),
                [a, b](const Tensor& dy, InputGradients& dx) {
                  if (dx.wants(0)) dx.add(0, sum_to(dy * b, a.shape()));
                  if (dx.wants(1)) dx.add(1, sum_to(dy * a, b.shape()));
                });
}

Tensor operator/(const Tensor& a, const Tensor& b) {
  const Tensor y = binary("divide", Binary::divide, a, b);
  return record("divide", {a, b}, y, [a, b, y](const Tensor& dy, InputGradients& dx) {
    const Tensor scaled = dy / b;
    if (dx.wants(0)) dx.add(0, sum_to(scaled, a.shape()));
    if (dx.wants(1)) dx.add(1, -sum_to(scaled * y, b.shape()));
  });
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  return extreme("maximum", Binary::maximum, a, b);
}
Tensor minimum(const Tensor& a, const Tensor& b) {
  return extreme("minimum", Binary::minimum, a, b);
}

Tensor affine(const Tensor& x, double a, double b) {
  return unary("affine", Unary::affine, x, a, b);
}
Tensor exp(const Tensor& x) { return unary("exp", Unary::exp, x); }
Tensor log(const Tensor& x) { return unary("log", Unary::log, x); }
Tensor sqrt(const Tensor& x) { return unary("sqrt", Unary::sqrt, x); }
Tensor square(const Tensor& x) { return unary("square", Unary::square, x); }
Tensor abs(const Tensor& x) { return unary("abs", Unary::abs, x); }
Tensor sin(const Tensor& x) { return unary("sin", Unary::sin, x); }
Tensor cos(const Tensor& x) { return unary("cos", Unary::cos, x); }
Tensor tanh(const Tensor& x) { return unary("tanh", Unary::tanh, x); }
Tensor sigmoid(const Tensor& x) { return unary("sigmoid", Unary::sigmoid, x); }
Tensor softplus(const Tensor& x) { return unary("softplus", Unary::softplus, x); }
Tensor relu(const Tensor& x) { return unary("relu", Unary::relu, x); }
Tensor leaky_relu(const Tensor& x, double slope) {
  return unary("leaky_relu", Unary::leaky_relu, x, slope);
}
Tensor elu(const Tensor& x, double a) { return unary("elu", Unary::elu, x, a); }
Tensor gelu(const Tensor& x) { return unary("gelu", Unary::gelu, x); }
Tensor gelu_tanh(const Tensor& x) { return unary("gelu_tanh", Unary::gelu_tanh, x); }
Tensor clamp(const Tensor& x, double low, double high) {
  return unary("clamp", Unary::clamp, x, low, high);
}

Tensor convert(const Tensor& x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  return record("convert", {x}, x.to(dtype),
                [own = x.dtype()](const Tensor& dy, InputGradients& dx) { dx.add(0, dy.to(own)); });
}

void add_in_place(Tensor& y, const Tensor& x) {
  check(y.shape() == x.shape(), "add_in_place: shapes ", y.shape(), " and ", x.shape(), " differ");
  const kernel::Broadcast how = kernel::broadcast(y.shape(), x.shape());
  if (y.elements() == 0) return;
  with_real(y.dtype(), [&]<class T>(T) {
    T* sum = y.write<T>().data();
    kernel::binary(Binary::add, sum, sum, x.read<T>().data(), how);
  });
}

void scale_in_place(Tensor& y, double factor) {
  with_real(y.dtype(), [&]<class T>(T) {
    T* to = y.write<T>().data();
    kernel::unary(Unary::affine, to, to, y.elements(), static_cast<T>(factor), T(0));
  });
}

}  // namespace fovea
