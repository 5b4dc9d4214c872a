#include "fovea/app/cli/bench_scale.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "fovea/app/bench/scale.h"
#include "fovea/app/cli/ranks.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea::cli {
namespace {

bench::ScaleProblem problem_of(const std::string& size, int ranks) {
  bench::ScaleProblem p;
  char rest = 0;
  if (std::sscanf(size.c_str(), "%ldx%ld%c", &p.layers, &p.width, &rest) != 2 || p.layers < 1 ||
      p.layers > 100 || p.width < 1 || p.width > 8192) {
    throw UsageError(say("bench: --size needs layers x width such as 6x512, got '", size, "'"));
  }
  p.shards = std::max<int64_t>(p.shards, ranks);
  p.batch = std::max(p.batch, p.shards);
  return p;
}

void print_row(const char* where, int ranks, const bench::ScaleStep& step, double one) {
  fmt::print("{:<26} {:>5} {:>10.1f} {:>10.1f} {:>8.2f}\n", where, ranks, step.seconds * 1e3,
             step.exposed * 1e3, one / step.seconds);
}

}  // namespace

void bench_scale(const ScaleWords& words) {
  std::optional<bench::Network> asked;
  if (!words.network.empty()) asked = bench::network_of(words.network);
  Communicator* ranks = join_ranks();
  const int here = ranks ? ranks->size() : 1;
  const bench::ScaleProblem problem = problem_of(words.size, here);
  // In one process first, while the others wait: what they would take is not the model's.
  bench::ScaleCosts costs;
  if (!ranks || ranks->rank() == 0) costs = bench::measure_costs(problem, words.seconds);
  std::optional<bench::Network> between;
  bench::ScaleStep measured;
  if (ranks) {
    costs = broadcast_value(*ranks, costs);
    between = bench::measure_network(*ranks);
    measured = bench::measure_step(problem, *ranks, words.seconds);
    if (ranks->rank() != 0) return;
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  const bench::ScaleStep one = bench::predict(costs, {1, 0}, 1);
  nlohmann::json rows = nlohmann::json::array();
  const auto row = [&](const char* where, int count, const bench::ScaleStep& step) {
    rows.push_back({{"where", where},
                    {"ranks", count},
                    {"step_ms", step.seconds * 1e3},
                    {"exposed_ms", step.exposed * 1e3}});
    if (!words.json) print_row(where, count, step, one.seconds);
  };
  if (!words.json) {
    fmt::print("{} layers of {}, {:.1f} MB of weights, {} sequences of {} tokens in {} shards\n",
               problem.layers, problem.width, costs.bytes / 1e6, problem.batch, problem.context,
               problem.shards);
    fmt::print("A shard takes {:.1f} ms, a step of all weights {:.1f} ms, {} thread{}\n",
               costs.shard * 1e3, costs.update * 1e3, threads(), threads() == 1 ? "" : "s");
    if (between) {
      fmt::print("Between these ranks: {:.0f} MB/s each way, {:.0f} us a message\n",
                 between->bandwidth / 1e6, between->latency * 1e6);
    }
    fmt::print("\n{:<26} {:>5} {:>10} {:>10} {:>8}\n", "", "ranks", "step, ms", "waits, ms",
               "speed-up");
  }
  row("one process", 1, one);
  if (ranks) {
    // Ranks of one machine share its cores; between machines each has its own.
    row("predicted for these ranks", here,
        bench::predict(costs, *between, here, words.network.empty() ? cores : 0));
    row("measured on these ranks", here, measured);
  }
  const bench::Network& network =
      asked ? *asked : between.value_or(bench::network_of("10gbit,50us"));
  const std::string name = asked     ? words.network
                           : between ? "a link as between these"
                                     : "10gbit,50us";
  for (const int count : words.ranks) {
    if (count < 2) continue;
    bench::ScaleCosts wider = costs;
    wider.shards = std::max<int64_t>(costs.shards, count);
    // More shards than were measured are smaller ones.
    wider.shard *= static_cast<double>(costs.shards) / static_cast<double>(wider.shards);
    row(name.c_str(), count, bench::predict(wider, network, count));
  }
  if (words.json) fmt::print("{}\n", rows.dump(2));
}

}  // namespace fovea::cli
