// What an op costs beside its arithmetic: a chain of 1,000 ops on 8 numbers, forward and backward.
//   tape_bench [seconds]       prints nanoseconds an op, best of many, with the spread
// tools/bench_tape_torch.py runs the same chain in PyTorch, in turn with this program.
#include "fovea/app/bench/race.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/tape.h"

int main(int argc, char** argv) {
  using namespace fovea;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  const Tensor x = parameter(bench::uniform({8}, 1)), w = parameter(bench::uniform({8}, 2));
  bench::Timer timer;
  for (const double stop = bench::now() + seconds; bench::now() < stop;) {
    timer.run([&] {
      Tape tape;
      Tensor y = x;
      for (int i = 0; i < 500; ++i) y = tanh(y * w);
      tape.backward(sum(y));
    });
  }
  std::printf("%.0f ns an op, forward and backward (spread %.2f)\n", timer.best() * 1e9 / 1000,
              timer.spread());
}
