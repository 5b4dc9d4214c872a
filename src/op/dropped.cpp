#include "fovea/op/dropped.h"

#include "fovea/kernel/dropout.h"
#include "fovea/kernel/dropped.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

using kernel::Drop;
using kernel::Rows;
using kernel::Unary;

Drop draw(double p, Random* random) {
  check(p >= 0 && p < 1, "dropout: p must be in [0, 1), got ", p);
  if (p == 0 || !random || !Tape::current()) return {};
  return {p, random->bits64()};
}

Rows rows_of(const Tensor& x) { return {x.shape().product(0, x.rank() - 1), x.dim(-1)}; }

void check_bias(const char* name, const Tensor& x, const Tensor& bias) {
  if (bias.empty()) return;
  check(bias.shape() == Shape{x.dim(-1)}, name, ": x ", x.shape(), " needs a bias [", x.dim(-1),
        "] or none, got ", bias.shape());
}

template <class T>
const T* data_or_null(const Tensor& x) {
  return x.empty() ? nullptr : x.read<T>().data();
}

void add_bias_gradient(InputGradients& dx, int input, const Tensor& g, Rows n) {
  if (dx.wants(input)) dx.add(input, sum_to(g.reshaped({n.rows, n.C}), {n.C}));
}

}  // namespace

Tensor add_dropped(const Tensor& x, const Tensor& y, const Tensor& bias, double p, Random* random) {
  check(x.shape() == y.shape(), "add_dropped: both need one shape, got ", x.shape(), " and ",
        y.shape());
  check_bias("add_dropped", x, bias);
  const Drop drop = draw(p, random);
  const Rows n = rows_of(x);
  Tensor sum(x.shape(), x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::add_dropped(sum.write<T>().data(), x.read<T>().data(), y.read<T>().data(),
                        data_or_null<T>(bias), n, drop);
  });
  return record("add_dropped", {x, y, bias}, sum, [n, drop](const Tensor& dy, InputGradients& dx) {
    Tensor g = dy;
    if (drop.p > 0 && (dx.wants(1) || dx.wants(2))) {
      g = Tensor(dy.shape(), dy.dtype());
      with_real(dy.dtype(), [&]<class T>(T) {
        kernel::dropout(g.write<T>().data(), dy.read<T>().data(), dy.elements(), drop.p, drop.key);
      });
    }
    add_bias_gradient(dx, 2, g, n);
    dx.add(1, g);
    dx.add(0, dy);
  });
}

Tensor activate_dropped(Unary f, const Tensor& x, const Tensor& bias, double p, Random* random) {
  check(f == Unary::relu || f == Unary::gelu || f == Unary::gelu_tanh,
        "activate_dropped: takes relu, gelu and gelu_tanh");
  check_bias("activate_dropped", x, bias);
  const Drop drop = draw(p, random);
  const Rows n = rows_of(x);
  Tensor y(x.shape(), x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::activate_dropped(f, y.write<T>().data(), x.read<T>().data(), data_or_null<T>(bias), n,
                             drop);
  });
  return record("activate_dropped", {x, bias}, y,
                [f, x, bias, n, drop](const Tensor& dy, InputGradients& dx) {
                  Tensor g(x.shape(), x.dtype());
                  with_real(x.dtype(), [&]<class T>(T) {
                    kernel::activate_dropped_grad(f, g.write<T>().data(), dy.read<T>().data(),
                                                  x.read<T>().data(), data_or_null<T>(bias), n,
                                                  drop);
                  });
                  add_bias_gradient(dx, 1, g, n);
                  dx.add(0, g);
                });
}

}  // namespace fovea
