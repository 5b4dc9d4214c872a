// Attention inside a program of one's own: trains a query to find the odd one out, and looks where
// it looks.
#include <fovea/core.h>

#include <cstdio>

using namespace fovea;

int main() {
  Parameters parameters(/*seed=*/1);
  const int64_t T = 5, D = 8;
  Linear key(Scope(parameters) / "key", D, D);
  Tensor x = Tensor::full({1, T, D}, 0.1);
  for (int64_t d = 0; d < D; ++d) x.write()[static_cast<size_t>(3 * D + d)] = 1;
  const Tensor q = Tensor::full({1, 1, 1, D}, 1), odd = Tensor::of({1, T, 1, 1}, {0, 0, 0, 1, 0});

  auto look = [&] {
    return attend({.q = q, .k = reshape(key(x), {1, T, 1, D}), .v = odd, .name = "odd"}).context;
  };
  const auto adam = make_optimizer(parameters, {.kind = "adam", .rate = 0.05});
  for (int step = 0; step < 100; ++step) {
    Tape tape;
    adam->step(tape.backward(mean(square(look() - Tensor::full({1, 1, 1, 1}, 1)))));
  }
  Recorder recorder;
  look();
  const auto weights = recorder["odd"].rows.read();
  for (float weight : weights) std::printf("%.2f ", weight);
  std::printf("by %s\n", kernel::simd_target().c_str());
  return weights[3] > 0.5f ? 0 : 1;
}
