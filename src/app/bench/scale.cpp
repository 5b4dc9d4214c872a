#include "fovea/app/bench/scale.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <numeric>

#include "fovea/model/transformer/language_model.h"
#include "fovea/op/softmax.h"
#include "fovea/train/sharded_step.h"

namespace fovea::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TransformerOptions options_of(const ScaleProblem& p) {
  TransformerOptions o;
  o.layers = p.layers;
  o.width = p.width;
  o.heads = std::max<int64_t>(1, p.width / 64);
  return o;
}

// A language model on text that is drawn anew for every window.
class MadeUpText : public Learner {
 public:
  explicit MadeUpText(const ScaleProblem& p)
      : problem_(p),
        model_(Scope(table_), {.vocabulary = p.vocabulary, .longest = p.context}, options_of(p)) {}
  const Parameters& parameters() const override { return table_; }
  int64_t begin_epoch(int64_t) override { return 1 << 30; }
  int64_t examples_in(int64_t) const override { return problem_.batch; }
  Loss loss(int64_t batch) override {
    std::vector<std::vector<int32_t>> windows;
    std::vector<int32_t> wanted;
    for (int64_t i = shard_.begin(problem_.batch); i < shard_.end(problem_.batch); ++i) {
      Random random = Random(1).fork(static_cast<uint64_t>(batch * problem_.batch + i));
      auto& window = windows.emplace_back();
      for (int64_t t = 0; t < problem_.context; ++t) {
        const auto id = random.below(static_cast<uint64_t>(problem_.vocabulary));
        window.push_back(static_cast<int32_t>(id));
        wanted.push_back(window.back());
      }
    }
    const auto n = static_cast<int64_t>(wanted.size());
    return {cross_entropy(model_.scores(sequences_of(windows)), Tensor::of({n}, wanted)), n, n};
  }
  std::vector<Metric> validate() override { return {{"loss", false, 0}}; }

 private:
  ScaleProblem problem_;
  Parameters table_{1};
  TransformerLanguageModel model_;
};

TrainOptions train_options(const ScaleProblem& p) {
  TrainOptions o;
  o.shards = p.shards;
  return o;
}

// The middle one: a step that another program has disturbed is none.
double median(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<int64_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

double number_before(std::string_view text, std::string_view unit, const std::string& whole) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc() && number > 0 &&
            std::string_view(rest, static_cast<size_t>(text.data() + text.size() - rest)) == unit,
        "network: needs a bandwidth and a latency such as 1gbit,0.5ms or 200mbit,80us, got '",
        whole, "'");
  return number;
}

}  // namespace

ScaleCosts measure_costs(const ScaleProblem& problem, double seconds) {
  MadeUpText learner(problem);
  InMemoryRanks alone(1);
  ShardedStep step(learner, train_options(problem), {}, alone.at(0));
  const GradientLayout layout(learner.parameters());
  ScaleCosts costs;
  costs.shards = problem.shards;
  costs.bytes = 4.0 * static_cast<double>(layout.size());
  costs.buckets = static_cast<int64_t>(layout.buckets().size());
  const GradientLayout::Bucket& last = layout.buckets().back();
  costs.last_bytes = 4.0 * static_cast<double>(last.end - last.begin);
  std::vector<float> from(static_cast<size_t>(layout.size())), to = from;
  std::vector<double> shards, updates, copies;
  const auto start = Clock::now();
  for (int64_t i = 0; i < 3 || seconds_since(start) < seconds; ++i) {
    auto began = Clock::now();
    const auto figures = step.gradient(i, 1, Random(1), [] { return 1.0; });
    shards.push_back(seconds_since(began) / static_cast<double>(problem.shards));
    began = Clock::now();
    step.update(figures, 1);
    updates.push_back(seconds_since(began));
    began = Clock::now();
    std::ranges::copy(from, to.begin());
    copies.push_back(seconds_since(began));
    from[0] = to.back() + 1;
  }
  costs.shard = median(shards);
  costs.update = median(updates);
  costs.copy = 2 * median(copies);
  return costs;
}

Network network_of(const std::string& text) {
  const size_t comma = text.find(',');
  const std::string_view all = text;
  const std::string_view rate = all.substr(0, comma);
  const std::string_view delay = comma == std::string::npos ? "" : all.substr(comma + 1);
  Network network;
  const bool giga = rate.ends_with("gbit");
  network.bandwidth = number_before(rate, giga ? "gbit" : "mbit", text) * (giga ? 1e9 : 1e6) / 8;
  const bool micro = delay.ends_with("us");
  network.latency = number_before(delay, micro ? "us" : "ms", text) * (micro ? 1e-6 : 1e-3);
  return network;
}

Network measure_network(Communicator& ranks) {
  constexpr size_t large = 4 << 20;
  std::vector<std::vector<std::byte>> boxes(static_cast<size_t>(ranks.size()),
                                            std::vector<std::byte>(large));
  std::vector<std::span<std::byte>> parts(boxes.begin(), boxes.end());
  all_gather(ranks, parts);  // connections are made by the first messages
  std::vector<double> small, big;
  for (int i = 0; i < 20; ++i) {
    barrier(ranks);
    const auto began = Clock::now();
    barrier(ranks);
    small.push_back(seconds_since(began));
  }
  for (int i = 0; i < 7; ++i) {
    barrier(ranks);
    const auto began = Clock::now();
    all_gather(ranks, parts);
    big.push_back(seconds_since(began));
  }
  Network network{0, median(small)};
  const double moved = static_cast<double>(large) * (ranks.size() - 1);
  network.bandwidth = moved / std::max(1e-9, median(big) - network.latency);
  return {broadcast_value(ranks, network.bandwidth), broadcast_value(ranks, network.latency)};
}

ScaleStep predict(const ScaleCosts& costs, const Network& network, int ranks, int cores) {
  const double P = ranks, share = (P - 1) / P;
  const double crowd = cores > 0 ? std::max(1.0, P / cores) : 1;
  const auto mine = static_cast<double>((costs.shards + ranks - 1) / ranks);
  const double moved = share * costs.bytes / network.bandwidth +
                       static_cast<double>(costs.buckets) * network.latency * (ranks > 1) * 0.1;
  const double last = share * costs.last_bytes / network.bandwidth + network.latency;
  // Of a shard's time the backward pass takes two thirds.
  const double hidden = costs.shard * crowd * 2 / 3;
  ScaleStep step;
  if (ranks > 1) {
    // What rank 0 orders, what all gather, and the first and the last message on their way.
    const double small = (std::ceil(std::log2(P)) + 3) * network.latency;
    step.exposed = std::max(last, moved - hidden) + moved + small;
  }
  step.seconds = mine * costs.shard * crowd + costs.update / P * crowd +
                 (ranks > 1 ? costs.copy * crowd : 0) + step.exposed;
  return step;
}

ScaleStep measure_step(const ScaleProblem& problem, Communicator& ranks, double seconds) {
  MadeUpText learner(problem);
  ShardedStep step(learner, train_options(problem), {}, ranks);
  std::vector<double> steps, waits;
  const auto start = Clock::now();
  for (int64_t i = 0;; ++i) {
    const bool more = i < 4 || seconds_since(start) < seconds;
    if (!broadcast_value(ranks, more)) break;  // as the trainer's order
    const auto began = Clock::now();
    const double waited = step.waited();
    step.update(step.gradient(i, 1, Random(1), [] { return 1.0; }), 1);
    if (i == 0) continue;  // connections and memory are made
    steps.push_back(seconds_since(began));
    waits.push_back(step.waited() - waited);
  }
  return {median(steps), median(waits)};
}

}  // namespace fovea::bench
