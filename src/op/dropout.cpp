#include "fovea/op/dropout.h"

#include "fovea/kernel/dropout.h"

namespace fovea {

Tensor dropout(const Tensor& x, double p) {
  check(p >= 0 && p < 1, "dropout: p must be in [0, 1), got ", p);
  Random* random = Tape::random();
  if (p == 0 || !random) return x;
  // Only the key is kept: the gradient makes the same mask again.
  auto dropped = [p, key = random->bits64()](const Tensor& x) {
    Tensor y(x.shape(), x.dtype());
    with_real(x.dtype(), [&]<class T>(T) {
      kernel::dropout(y.write<T>().data(), x.read<T>().data(), x.elements(), p, key);
    });
    return y;
  };
  return record("dropout", {x}, dropped(x),
                [dropped](const Tensor& dy, InputGradients& dx) { dx.add(0, dropped(dy)); });
}

}  // namespace fovea
