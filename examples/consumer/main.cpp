// Fits a line to four points with the library alone, as a project that uses it would.
#include <fovea/fovea.h>

#include <cmath>
#include <cstdio>

using namespace fovea;

int main() {
  Parameters parameters(/*seed=*/1);
  Linear line(Scope(parameters) / "line", 1, 1);
  const Tensor x = Tensor::of({4, 1}, {0, 1, 2, 3});
  const Tensor y = Tensor::of({4, 1}, {1, 3, 5, 7});

  const auto adam = make_optimizer(parameters, {.kind = "adam", .rate = 0.1});
  for (int step = 0; step < 500; ++step) {
    Tape tape;
    adam->step(tape.backward(mean(square(line(x) - y))));
  }
  const double answer = line(Tensor::of({1, 1}, {10})).item();
  std::printf("2 x + 1 at 10 is %.2f\n", answer);
  return std::abs(answer - 21) < 0.1 ? 0 : 1;
}
