#include "fovea/op/dropped.h"

#include "fovea/kernel/dropout.h"
#include "fovea/kernel/dropped.h"
#include "fovea/op/elementwise.h"

namespace fovea {
namespace {

using kernel::Drop;
using kernel::Unary;

Drop draw(double p, Random* random) {
  check(p >= 0 && p < 1, "dropout: p must be in [0, 1), got ", p);
  if (p == 0 || !random || !Tape::current()) return {};
  return {p, random->bits64()};
}

}  // namespace

Tensor add_dropped(const Tensor& x, const Tensor& y, double p, Random* random) {
  check(x.shape() == y.shape(), "add_dropped: both need one shape, got ", x.shape(), " and ",
        y.shape());
  const Drop drop = draw(p, random);
  Tensor sum(x.shape(), x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::add_dropped(sum.write<T>().data(), x.read<T>().data(), y.read<T>().data(), x.elements(),
                        drop);
  });
  return record("add_dropped", {x, y}, sum, [drop](const Tensor& dy, InputGradients& dx) {
    Tensor g = dy;
    if (drop.p > 0 && dx.wants(1)) {
      g = Tensor(dy.shape(), dy.dtype());
      with_real(dy.dtype(), [&]<class T>(T) {
        kernel::dropout(g.write<T>().data(), dy.read<T>().data(), dy.elements(), drop.p, drop.key);
      });
    }
    dx.add(1, g);
    dx.add(0, dy);
  });
}

Tensor activate_dropped(Unary f, const Tensor& x, double p, Random* random) {
  check(f == Unary::relu || f == Unary::gelu || f == Unary::gelu_tanh,
        "activate_dropped: takes relu, gelu and gelu_tanh");
  const Drop drop = draw(p, random);
  Tensor y(x.shape(), x.dtype());
  Tensor slopes = Tape::current() ? Tensor(x.shape(), x.dtype()) : Tensor();
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::activate_dropped(f, y.write<T>().data(),
                             slopes.empty() ? nullptr : slopes.write<T>().data(),
                             x.read<T>().data(), x.elements(), drop);
  });
  return record("activate_dropped", {x}, y,
                [slopes](const Tensor& dy, InputGradients& dx) { dx.add(0, dy * slopes); });
}

}  // namespace fovea
