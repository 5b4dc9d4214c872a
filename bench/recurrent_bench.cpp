// Recurrent layers, forward and backward on the tape, as a ratio to dnnl_sgemm:
//   recurrent_bench [seconds per case] [only names containing this]
// Counted are 3 x the forward pass's 2 rows G H (C + H).
#include <cmath>

#include "fovea/app/bench/race.h"
#include "fovea/op/recurrent.h"

namespace fovea::bench {
namespace {

struct Problem {
  Cell cell;
  int64_t B, T, C, H;
  Tensor lengths{};
  double rows = static_cast<double>(B * T);

  double flops() const { return 2 * rows * static_cast<double>(gates_of(cell) * H * (C + H)); }
};

struct Bench {
  Race& race;

  void layer(const std::string& name, const Problem& p) {
    const int64_t G = gates_of(p.cell) * p.H;
    const float limit = 1 / std::sqrt(static_cast<float>(p.H));
    const Tensor x = parameter(uniform({p.B, p.T, p.C}, 4, 1));
    const RecurrentWeights w{parameter(uniform({G, p.C}, 5, limit)),
                             parameter(uniform({G, p.H}, 6, limit)),
                             parameter(uniform({G}, 7, limit)), parameter(uniform({G}, 8, limit))};
    const Tensor dy = uniform({p.B, p.T, p.H}, 9, 1);
    const RecurrentInputs in{.cell = p.cell, .x = x, .w = w, .start = {}, .lengths = p.lengths};
    race.against_gemm(name + " forward", p.flops(), [&] { recurrent(in); });
    race.against_gemm(name + " forward+backward", 3 * p.flops(), [&] {
      Tape tape;
      tape.backward(recurrent(in).y, dy);
    });
  }

  // A decoder's steps: one op each.
  void steps(const std::string& name, const Problem& p) {
    const int64_t G = gates_of(p.cell) * p.H;
    const float limit = 1 / std::sqrt(static_cast<float>(p.H));
    const Tensor x = parameter(uniform({p.B, p.C}, 4, 1)), dy = uniform({p.B, p.H}, 9, 1);
    const RecurrentWeights w{parameter(uniform({G, p.C}, 5, limit)),
                             parameter(uniform({G, p.H}, 6, limit)),
                             parameter(uniform({G}, 7, limit)), parameter(uniform({G}, 8, limit))};
    race.against_gemm(name + " forward+backward", 3 * p.flops(), [&] {
      Tape tape;
      RecurrentState state;
      for (int64_t t = 0; t < p.T; ++t) state = recurrent_step(p.cell, x, w, state);
      tape.backward(state.h, dy);
    });
  }
};

// Lengths from 1 to T in a shuffled order.
Problem ragged(Problem p) {
  p.lengths = Tensor({p.B}, Dtype::i32);
  Random random(3);
  p.rows = 0;
  for (int32_t& length : p.lengths.write<int32_t>()) {
    length = 1 + static_cast<int32_t>(random.below(static_cast<uint64_t>(p.T)));
    p.rows += length;
  }
  return p;
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea;
  using namespace fovea::bench;
  Race race(argc, argv);
  Bench cases{race};
  cases.layer("lstm B 32 T 40 256", {Cell::lstm, 32, 40, 256, 256});
  cases.layer("gru B 32 T 40 256", {Cell::gru, 32, 40, 256, 256});
  cases.layer("rnn B 32 T 40 256", {Cell::rnn, 32, 40, 256, 256});
  cases.layer("lstm B 64 T 25 256", {Cell::lstm, 64, 25, 256, 256});
  cases.layer("lstm B 20 T 35 200", {Cell::lstm, 20, 35, 200, 200});
  cases.layer("lstm B 64 T 40 512", {Cell::lstm, 64, 40, 512, 512});
  cases.layer("lstm B 32 T 40 256 lengths", ragged({Cell::lstm, 32, 40, 256, 256}));
  cases.steps("lstm steps B 64 T 25 256", {Cell::lstm, 64, 25, 256, 256});
}
