// The gradient of a small loss through an op of one's own.
#include <cstdio>

#include "fovea/op/tape.h"

using namespace fovea;

// sum of x², with its adjoint beside it
Tensor energy(const Tensor& x) {
  double sum = 0;
  for (float v : x.read()) sum += v * v;
  return record("energy", {x}, Tensor::scalar(sum), [x](const Tensor& dy, InputGradients& dx) {
    if (!dx.wants(0)) return;
    Tensor g(x.shape());
    for (int64_t i = 0; i < x.elements(); ++i) {
      g.write()[i] = 2 * x.read()[i] * static_cast<float>(dy.item());
    }
    dx.add(0, g);
  });
}

int main() {
  const Tensor w = parameter(Tensor::of({3}, {1, 2, 3}));
  Tape tape;
  const Tensor loss = energy(w);
  const Gradients gradients = tape.backward(loss);
  std::printf("loss %g, slope of the last weight %g\n", loss.item(), gradients[w].read()[2]);
  return loss.item() == 14 && gradients[w].read()[2] == 6 ? 0 : 1;
}
