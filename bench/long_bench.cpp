// Attention of long sequences to themselves, forward and backward.
//   long_bench [SECONDS a case] [part of the names]
// First, ratios to dnnl_sgemm over the operations that are needed: those of the pairs inside of a
// window, and those of linear attention's chunks. Then for each way of the catalogue: milliseconds
// at 1,024 to 65,536 tokens, the power of the length by which time grows, megabytes at the last
// two lengths, and how much faster than all pairs it is at 16,384 tokens.
#include <cmath>

#include "fovea/app/bench/race.h"
#include "fovea/attention/catalog.h"
#include "fovea/attention/efficient/linear.h"
#include "fovea/attention/efficient/window.h"
#include "fovea/attention/engine.h"
#include "fovea/kernel/linear_attention.h"
#include "fovea/op/tape.h"

namespace fovea::bench {
namespace {

constexpr int64_t H = 4, D = 64;

// One layer's attention, forward and backward.
struct Layer {
  std::function<AttentionOutput(const AttentionInputs&)> attend;
  int64_t n;
  Pattern who{};
  bool back = true;
  Tensor q = uniform({1, n, H, D}, 1), k = uniform({1, n, H, D}, 2), v = uniform({1, n, H, D}, 3),
         dy = uniform({1, n, H, D}, 4);

  void run() const {
    if (!back) {
      attend({.q = q, .k = k, .v = v, .who = who});
      return;
    }
    Tape tape;
    const Tensor a = tape.watch(q), b = tape.watch(k), c = tape.watch(v);
    const Tensor y = attend({.q = a, .k = b, .v = c, .who = who}).context;
    tape.backward(y, dy);
  }
};

std::function<AttentionOutput(const AttentionInputs&)> method(const std::string& name, int64_t n,
                                                              Parameters& table) {
  AttentionOptions o;
  o.d_q = o.d_k = o.d_v = D;
  o.heads = o.input_heads = H;
  o.longest_keys = n;
  // What the pattern needs to grow as its paper says: a stride near the root of the length.
  if (name.starts_with("sparse")) {
    o.block = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(n))));
  }
  if (name == "synthesizer") o.synthesizer = "factorized";
  return find_entry(Entry::Kind::efficient, name).self(table, o).attend;
}

void ratios(Race& race) {
  constexpr int64_t n = 16384, w = 256;
  for (const bool causal_too : {false, true}) {
    for (const bool back : {false, true}) {
      Parameters table;
      const Layer layer{window_self_attention(table, {.window = w, .global_tokens = 0}).attend, n,
                        causal_too ? causal() : Pattern(), back};
      double pairs = 0;
      for (int64_t i = 0; i < n; ++i) {
        const int64_t before = causal_too ? w : w / 2, after = causal_too ? 0 : w / 2;
        pairs += static_cast<double>(std::min(n, i + after + 1) - std::max<int64_t>(0, i - before));
      }
      // Two products of 2 D operations a pair, and five more going back.
      const double flops = pairs * H * D * (back ? 14 : 4);
      race.against_gemm(std::string("window 256 of 16384") + (causal_too ? " causal" : "") +
                            (back ? " with backward" : " forward"),
                        flops, [&] { layer.run(); });
    }
  }
  for (const bool causal_too : {false, true}) {
    for (const bool back : {false, true}) {
      const Layer layer{linear_self_attention().attend, n, causal_too ? causal() : Pattern(), back};
      // f(k)^T v and f(q) S, three times as many going back; inside of a chunk of c rows two
      // products of all its pairs, of which half are needed, and five more going back.
      const double rows = static_cast<double>(n) * H;
      double flops = rows * 4 * D * D * (back ? 3 : 1);
      if (causal_too) flops += rows * 2 * kernel::linear_chunk * D * (back ? 7 : 2);
      race.against_gemm(std::string("linear 16384") + (causal_too ? " causal" : "") +
                            (back ? " with backward" : " forward"),
                        flops, [&] { layer.run(); });
    }
  }
}

double milliseconds(const std::string& name, int64_t n, double seconds) {
  Parameters table;
  const Layer layer{method(name, n, table), n};
  layer.run();
  Timer timer;
  for (const double stop = now() + seconds; now() < stop || timer.seconds.size() < 3;) {
    timer.run([&] { layer.run(); });
    if (timer.seconds[0] > 5) break;
  }
  return 1e3 * timer.best();
}

// What one run adds to this process, which has done nothing before.
double run_megabytes(const std::string& name, int64_t n) {
  const double before = peak_megabytes();
  Parameters table;
  const Layer layer{method(name, n, table), n};
  layer.run();
  return peak_megabytes() - before;
}

// The same in a process of its own.
double megabytes(const std::string& name, int64_t n) {
  const std::string command =
      "/proc/" + std::to_string(getpid()) + "/exe memory " + name + " " + std::to_string(n);
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return 0;
  double used = 0;
  if (std::fscanf(pipe, "%lf", &used) != 1) used = 0;
  pclose(pipe);
  return used;
}

void growth(const Race& race, double seconds) {
  constexpr int64_t first = 1024, last = 65536, beside = 16384;
  std::printf("\n%-16s", "ms, 4 heads of 64");
  for (int64_t n = first; n <= last; n *= 2) std::printf(" %8lld", static_cast<long long>(n));
  std::printf(" %6s %7s %7s %8s\n", "power", "MB 32k", "MB 64k", "x full");
  double full = 0;
  for (const std::string& name : self_attention_names()) {
    const bool squares = name == "full" || name == "synthesizer";
    if (name != "full" && !race.wants(name)) continue;
    std::printf("%-16s", name.c_str());
    std::vector<double> x, y;
    double at_beside = 0;
    for (int64_t n = first; n <= last; n *= 2) {
      if (squares && n > beside) {
        std::printf(" %8s", "-");
        continue;
      }
      const double ms = milliseconds(name, n, seconds / 4);
      if (n == beside) at_beside = ms;
      x.push_back(std::log(static_cast<double>(n))), y.push_back(std::log(ms));
      std::printf(" %8.2f", ms);
      std::fflush(stdout);
    }
    if (name == "full") full = at_beside;
    double mx = 0, my = 0, xy = 0, xx = 0;
    const auto count = static_cast<double>(x.size());
    for (size_t i = 0; i < x.size(); ++i) mx += x[i] / count, my += y[i] / count;
    for (size_t i = 0; i < x.size(); ++i) {
      xy += (x[i] - mx) * (y[i] - my), xx += (x[i] - mx) * (x[i] - mx);
    }
    std::printf(" %6.2f", xy / xx);
    if (squares) {
      std::printf(" %7s %7s", "-", "-");
    } else {
      std::printf(" %7.0f %7.0f", megabytes(name, last / 2), megabytes(name, last));
    }
    std::printf(" %8.1f\n", full / at_beside);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace fovea::bench

int main(int argc, char** argv) {
  using namespace fovea::bench;
  if (argc == 4 && std::string(argv[1]) == "memory") {
    std::printf("%f\n", run_megabytes(argv[2], std::atoll(argv[3])));
    return 0;
  }
  if (argc == 4 && std::string(argv[1]) == "time") {
    std::printf("%f\n", milliseconds(argv[2], std::atoll(argv[3]), 2));
    return 0;
  }
  Race race(argc, argv);
  ratios(race);
  growth(race, argc > 1 ? std::atof(argv[1]) : 2);
}
