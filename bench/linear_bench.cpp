// Linear layers on the tape, forward and backward, as a ratio to dnnl_sgemm:
//   linear_bench [seconds per case] [only names containing this]
#include "fovea/app/bench/race.h"
#include "fovea/op/linear.h"
#include "fovea/op/reduce.h"
#include "fovea/op/tape.h"

int main(int argc, char** argv) {
  using namespace fovea;
  bench::Race race(argc, argv);
  for (const auto& [rows, in, out] : {std::array<int64_t, 3>{4096, 512, 512},
                                      {2048, 256, 1024},
                                      {1024, 1024, 256},
                                      {512, 128, 128}}) {
    const Tensor x = parameter(bench::uniform({rows, in}, 4));
    const Tensor w = parameter(bench::uniform({out, in}, 5));
    const Tensor b = parameter(bench::uniform({out}, 6)), dy = bench::uniform({rows, out}, 7);
    const double flops = 2.0 * static_cast<double>(rows * in * out);
    const std::string name = say("linear ", in, " to ", out, ", ", rows, " rows");
    race.against_gemm(name + ", forward", flops, [&] { linear(x, w, b); });
    race.against_gemm(name + ", forward+backward", 3 * flops, [&] {
      Tape tape;
      tape.backward(linear(x, w, b), dy);
    });
  }
}
