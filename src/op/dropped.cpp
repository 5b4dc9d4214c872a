#include "fovea/op/dropped.h"

#include "fovea/kernel/dropout.h"
#include "fovea/kernel/dropped.h"

namespace fovea {

kernel::Drop draw_drop(double p) {
  check(p >= 0 && p < 1, "dropout: p must be in [0, 1), got ", p);
  Random* random = Tape::random();
  if (p == 0 || !random) return {};
  return {p, random->bits64()};
}

Tensor add_dropped(const Tensor& x, const Tensor& y, double p) {
  check(x.shape() == y.shape(), "add_dropped: both need one shape, got ", x.shape(), " and ",
        y.shape());
  const kernel::Drop drop = draw_drop(p);
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

}  // namespace fovea
