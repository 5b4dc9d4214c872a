// Recurrent layers, forward and backward on the tape, as a ratio to dnnl_sgemm (1024^3); both on
// all of parallel_for's threads and measured in turn, so that a busy machine slows both:
//   recurrent_bench [seconds per case, default 2] [only names containing this]
// Rows: name, ratio of the best rates, spread (median time over best time), rate, sgemm's rate, ms.
// Counted are 3 x the forward pass's 2 rows G H (C + H).
#include <oneapi/dnnl/dnnl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fovea/base/parallel.h"
#include "fovea/base/random.h"
#include "fovea/kernel/one_thread.h"
#include "fovea/op/recurrent.h"

namespace {

using namespace fovea;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Timer {
  std::vector<double> seconds;
  void run(const std::function<void()>& f) {
    const double start = now();
    f();
    seconds.push_back(now() - start);
  }
  double best() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double spread() const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2] / sorted[0];
  }
};

Tensor uniform(const Shape& shape, uint64_t stream, float limit) {
  Tensor t(shape);
  Random random(1, stream);
  for (float& x : t.write()) x = limit * (2 * random.uniform() - 1);
  return t;
}

struct Gemm {
  static constexpr int64_t n = 1024;
  static constexpr double flops = 2.0 * n * n * n;
  Tensor a = uniform({n, n}, 1, 1), b = uniform({n, n}, 2, 1), c = uniform({n, n}, 3, 1);
  void operator()() {
    dnnl_sgemm('N', 'N', n, n, n, 1, a.read().data(), n, b.read().data(), n, 0, c.write().data(),
               n);
  }
};

struct Problem {
  Cell cell;
  int64_t B, T, C, H;
  Tensor lengths{};
  double rows = static_cast<double>(B * T);

  double flops() const { return 2 * rows * static_cast<double>(gates_of(cell) * H * (C + H)); }
};

struct Bench {
  double seconds;
  std::string only;
  Gemm gemm{};

  void rate(const std::string& name, double flops, const std::function<void()>& f) {
    if (name.find(only) == std::string::npos) return;
    f(), gemm();
    Timer mine, theirs;
    for (const double stop = now() + seconds; now() < stop || mine.seconds.size() < 5;) {
      mine.run(f);
      theirs.run([this] { gemm(); });
    }
    const double gflops = flops / mine.best() * 1e-9, sgemm = Gemm::flops / theirs.best() * 1e-9;
    std::printf("%-44s %6.3f %8.2f %8.1f %8.1f %8.2f\n", name.c_str(), gflops / sgemm,
                mine.spread(), gflops, sgemm, 1e3 * mine.best());
    std::fflush(stdout);
  }

  void layer(const std::string& name, const Problem& p) {
    const int64_t G = gates_of(p.cell) * p.H;
    const float limit = 1 / std::sqrt(static_cast<float>(p.H));
    const Tensor x = parameter(uniform({p.B, p.T, p.C}, 4, 1));
    const RecurrentWeights w{parameter(uniform({G, p.C}, 5, limit)),
                             parameter(uniform({G, p.H}, 6, limit)),
                             parameter(uniform({G}, 7, limit)), parameter(uniform({G}, 8, limit))};
    const Tensor dy = uniform({p.B, p.T, p.H}, 9, 1);
    const RecurrentInputs in{.cell = p.cell, .x = x, .w = w, .start = {}, .lengths = p.lengths};
    rate(name + " forward", p.flops(), [&] { recurrent(in); });
    rate(name + " forward+backward", 3 * p.flops(), [&] {
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
    rate(name + " forward+backward", 3 * p.flops(), [&] {
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

int main(int argc, char** argv) {
  // libgomp's workers spin after every sgemm unless told otherwise before the program starts, and
  // would then be measured against.
  if (!std::getenv("OMP_WAIT_POLICY")) {
    setenv("OMP_WAIT_POLICY", "passive", 1);
    execv("/proc/self/exe", argv);
  }
  Bench bench{argc > 1 ? std::atof(argv[1]) : 2, argc > 2 ? argv[2] : ""};
  omp_set_num_threads(threads());
  std::printf("%-44s %6s %8s %8s %8s %8s\n", "", "ratio", "spread", "gflops", "sgemm", "ms");
  bench.layer("lstm B 32 T 40 256", {Cell::lstm, 32, 40, 256, 256});
  bench.layer("gru B 32 T 40 256", {Cell::gru, 32, 40, 256, 256});
  bench.layer("rnn B 32 T 40 256", {Cell::rnn, 32, 40, 256, 256});
  bench.layer("lstm B 64 T 25 256", {Cell::lstm, 64, 25, 256, 256});
  bench.layer("lstm B 20 T 35 200", {Cell::lstm, 20, 35, 200, 200});
  bench.layer("lstm B 64 T 40 512", {Cell::lstm, 64, 40, 512, 512});
  bench.layer("lstm B 32 T 40 256 lengths", ragged({Cell::lstm, 32, 40, 256, 256}));
  bench.steps("lstm steps B 64 T 25 256", {Cell::lstm, 64, 25, 256, 256});
}
