// fovea bench attention: the engine against the machine's own limit, in one run.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "fovea/app/bench/race.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/attention/engine.h"
#include "fovea/base/names.h"
#include "fovea/op/tape.h"

namespace fovea::cli {
namespace {

struct BenchWords {
  std::string what, only;
  double seconds = 2;
  bool json = false;
};

// One attention problem at D = 64: n queries and keys, B x H heads.
struct Problem {
  AttentionInputs in;
  Tensor dy;
  double pairs;  // of a query and a key it may look at, all heads

  Problem(int64_t B, int64_t H, int64_t n)
      : in{.q = parameter(bench::uniform({B, n, H, 64}, 1)),
           .k = parameter(bench::uniform({B, n, H, 64}, 2)),
           .v = parameter(bench::uniform({B, n, H, 64}, 3))},
        dy(bench::uniform({B, n, H, 64}, 4)),
        pairs(static_cast<double>(B * H * n * n)) {}
  double flops() const { return 4.0 * 64 * pairs; }  // forward; backward counts 2.5 times that
  void forward() const { attend(in); }
  void both() const {
    Random random(1);
    AttentionInputs now = in;
    now.random = &random;
    Tape tape;
    tape.backward(attend(now).context, dy);
  }
};

void bench_attention(bench::Race& race) {
  auto forward = [&](const std::string& name, Problem p) {
    race.against_gemm(name, p.flops(), [&] { p.forward(); });
  };
  auto both = [&](const std::string& name, Problem p) {
    race.against_gemm(name, 3.5 * p.flops(), [&] { p.both(); });
  };
  auto with_causal = [](Problem p) {
    const auto n = static_cast<double>(p.in.q.dim(1));
    p.in.who = causal();
    p.pairs *= (n + 1) / (2 * n);
    return p;
  };
  for (int64_t n : {1024, 4096}) {
    forward(fmt::format("forward, n {}, 12 heads", n), {1, 12, n});
    both(fmt::format("forward+backward, n {}, 12 heads", n), {1, 12, n});
  }
  forward("forward, n 128, 64 batch x heads", {8, 8, 128});
  both("forward+backward, n 128, 64 batch x heads", {8, 8, 128});
  forward("causal forward, n 4096, 12 heads", with_causal({1, 12, 4096}));
  both("causal forward+backward, n 4096, 12 heads", with_causal({1, 12, 4096}));
  {
    Problem p(1, 12, 1024);
    p.in.bias = parameter(bench::uniform({1, 12, 1024, 1024}, 5));
    both("bias forward+backward, n 1024, 12 heads", p);
  }
  {
    Problem p(1, 12, 1024);
    p.in.dropout = 0.1;
    both("dropout forward+backward, n 1024, 12 heads", p);
  }
  {
    Problem plain(1, 2, 4096), seen = plain;  // few heads: more rounds
    seen.in.capture.what = Capture::What::summary;
    race.against_each_other(
        "forward without / with summary, n 4096", [&] { seen.forward(); },
        [&] { plain.forward(); });
  }
  {
    const int64_t n = 16384, H = 8;
    const AttentionInputs step{.q = bench::uniform({1, 1, H, 64}, 1),
                               .k = bench::uniform({1, n, H, 64}, 2),
                               .v = bench::uniform({1, n, H, 64}, 3)};
    race.against_memory("decode 1 query, 8 heads, 16384 keys (GB/s)", 2.0 * n * H * 64 * 4,
                        [&] { attend(step); });
  }
  // No result can pass this one: how much of the machine sgemm itself uses.
  race.against_gemm("multiplications in registers, no memory", kernel::limit_multiply_operations(),
                    [] { kernel::limit_multiply(); });
}

void run_bench(const BenchWords& words) {
  const std::vector<std::string> known{"attention"};
  if (words.what != known[0]) throw UsageError(unknown_name("benchmark", words.what, known));
  nlohmann::json rows = nlohmann::json::array();
  bench::Race race(words.seconds, words.only, [&](const bench::Row& row) {
    if (!words.json) return bench::Race::print(row);
    rows.push_back({{"name", row.name},
                    {"ratio", row.ratio},
                    {"spread", row.spread},
                    {"ms", row.seconds * 1e3},
                    {"gflops", row.rate},
                    {"sgemm_gflops", row.limit}});
  });
  if (!words.json)
    fmt::print("{:<46} {:>6} {:>7} {:>8} {:>8}\n", "", "ratio", "spread", "rate", "limit");
  bench_attention(race);
  if (words.json) fmt::print("{}\n", rows.dump(2));
}

}  // namespace

void add_bench(CLI::App& app, char** argv) {
  auto* verb =
      app.add_subcommand("bench", "Measure speed against the machine's own limit, in one run");
  auto words = std::make_shared<BenchWords>();
  verb->add_option("what", words->what, "What to measure: attention")->required();
  verb->add_option("--seconds", words->seconds, "How long each case is repeated")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--only", words->only, "Only cases whose name has this in it");
  verb->add_flag("--json", words->json, "Print rows of name, ratio, gflops, sgemm_gflops");
  verb->callback([words, argv] {
    bench::wait_passively(argv);
    run_bench(*words);
  });
}

}  // namespace fovea::cli
