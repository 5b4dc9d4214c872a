// Attention with additive scores and with entmax, forward and with backward, through the engine.
//   additive_bench [SECONDS a case] [part of the names]
// A line for each case: name, milliseconds (best), median over best, milliseconds of processor time
// on all threads (best: what a busy machine cannot hide), 1e9 activations tanh(a + b) or scores a
// second, and how much the peak resident size has grown since the program began, in MB.
#include <ctime>

#include "fovea/app/bench/race.h"
#include "fovea/attention/align/entmax.h"
#include "fovea/attention/align/softmax.h"
#include "fovea/attention/engine.h"
#include "fovea/op/tape.h"

namespace fovea::bench {
namespace {

struct Sizes {
  int64_t B, n, D;
};

struct Bench {
  double seconds;
  std::string only;
  double before = peak_megabytes();

  void run(const std::string& name, double units, const std::function<void()>& f) const {
    if (name.find(only) == std::string::npos) return;
    f();
    Timer timer;
    double processor = 1e9;
    for (const double stop = now() + seconds; now() < stop || timer.seconds.size() < 3;) {
      const std::clock_t start = std::clock();
      timer.run(f);
      processor = std::min(processor, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    std::printf("%-28s %9.3f %6.2f %9.3f %8.2f %8.1f\n", name.c_str(), timer.best() * 1e3,
                timer.spread(), processor * 1e3, units / timer.best() * 1e-9,
                peak_megabytes() - before);
    std::fflush(stdout);
  }

  void attention(const std::string& name, const Sizes& z, const Score& score,
                 const Alignment& align, double units_a_pair, const Tensor& w = {}) const {
    const Shape shape{z.B, z.n, 1, z.D};
    if ((name + " forward backward").find(only) == std::string::npos) return;
    const Tensor q = parameter(uniform(shape, 1)), k = parameter(uniform(shape, 2)),
                 v = parameter(uniform(shape, 3));
    const Tensor dy = uniform(shape, 4);
    const AttentionInputs in{.q = q, .k = k, .v = v};
    const double units = static_cast<double>(z.B * z.n * z.n) * units_a_pair;
    run(name + " forward", units, [&] { attend(in, score, align); });
    run(name + " backward", units, [&] {
      Tape tape;
      const Gradients g = tape.backward(attend(in, score, align).context, dy);
      for (const Tensor* x : {&q, &k, &v, &w}) {
        if (!x->empty()) check(!g[*x].empty(), "a gradient is missing");
      }
    });
  }
};

void all(int argc, char** argv) {
  const Bench bench{argc > 1 ? std::atof(argv[1]) : 1, argc > 2 ? argv[2] : ""};
  const Tensor w = parameter(uniform({64}, 5));
  const Score additive = [&w](const Tensor& q, const Tensor& k) {
    return ScoreForm{q, k, 1, ScoreMap::tanh, w};
  };
  const Alignment softmax = softmax_alignment();
  bench.attention("additive 8x256x64", {8, 256, 64}, additive, softmax, 64, w);
  bench.attention("additive 1x4096x64", {1, 4096, 64}, additive, softmax, 64, w);
  bench.attention("additive 64x32x64", {64, 32, 64}, additive, softmax, 64, w);
  for (double alpha : {1.5, 2.0, 1.3}) {
    char name[40];
    std::snprintf(name, sizeof name, "entmax%.1f 8x256x64", alpha);
    bench.attention(name, {8, 256, 64}, scaled_score(), entmax_alignment(alpha), 1);
  }
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) { fovea::bench::all(argc, argv); }
