// The training loop, on a learner small enough to see through.
#include "fovea/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/train/checkpoint.h"
#include "support/scratch.h"
#include "support/toy_learner.h"

namespace fovea::test {
namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Trainer, ARunCutOffAnywhereEndsInTheSameBits) {
  const ScratchFolder whole;
  Toy one;
  train(one, {.options = steps(20), .folder = whole.path()});
  for (int64_t cut : {1, 6, 7, 8, 13, 14, 19}) {
    const ScratchFolder parts;
    std::atomic<bool> stop{false};
    Toy first, second;
    const auto stop_there = [&](const TrainProgress& p) { stop = p.step >= cut; };
    const TrainResult cut_off = train(
        first,
        {.options = steps(20), .folder = parts.path(), .progress = stop_there, .stop = &stop});
    EXPECT_EQ(cut_off.stopped, "interrupted");
    EXPECT_EQ(cut_off.steps, cut);
    const TrainResult rest =
        train(second, {.options = steps(20), .folder = parts.path(), .resume = true});
    EXPECT_EQ(rest.stopped, "steps");
    expect_same_bits(second.weight_, one.weight_);
    EXPECT_EQ(bytes_of(parts.path() + "/model.safetensors"),
              bytes_of(whole.path() + "/model.safetensors"))
        << cut;
  }
}

TEST(Trainer, ResumingWritesTheLogAsIfNothingHadHappened) {
  const ScratchFolder folder;
  Toy first, second;
  std::atomic<bool> stop{false};
  train(first, {.options = steps(21),
                .folder = folder.path(),
                .progress = [&](const TrainProgress& p) { stop = p.step >= 16; },
                .stop = &stop});
  { std::ofstream(folder.path() + "/metrics.jsonl", std::ios::app) << R"({"step": 18, "lo)"; }
  train(second, {.options = steps(21), .folder = folder.path(), .resume = true});
  std::ifstream log(folder.path() + "/metrics.jsonl");
  std::vector<int64_t> validated;
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("validation")) validated.push_back(json["step"]);
  }
  EXPECT_EQ(validated, (std::vector<int64_t>{7, 14, 21}));
}

TEST(Trainer, KeepsTheBestWeights) {
  const ScratchFolder folder;
  Toy toy;
  toy.given = {0.1, 0.9, 0.3};
  TrainOptions o = steps(21);
  const TrainResult result = train(toy, {.options = o, .folder = folder.path()});
  EXPECT_EQ(result.best_step, 14);
  EXPECT_EQ(result.best->value, 0.9);
  Toy best, at_14;
  load_parameters(folder.path() + "/model.safetensors", best.parameters());
  std::atomic<bool> stop{false};
  train(at_14, {.options = o,
                .progress = [&](const TrainProgress& p) { stop = p.step >= 14; },
                .stop = &stop});
  expect_same_bits(best.weight_, at_14.weight_);

  o.keep_best = false;
  Toy last;
  last.given = {0.9, 0.1};
  train(last, {.options = o, .folder = folder.path()});
  Toy kept;
  load_parameters(folder.path() + "/model.safetensors", kept.parameters());
  expect_same_bits(kept.weight_, last.weight_);
}

TEST(Trainer, StopsEarlyWithoutABetterValidation) {
  Toy toy;
  toy.given = {0.5, 0.6, 0.4, 0.6, 0.1};
  TrainOptions o = steps(1000);
  o.early_stop = 3;
  const TrainResult result = train(toy, {.options = o});
  EXPECT_EQ(result.stopped, "early stop");
  EXPECT_EQ(result.steps, 35) << "an equal is no better";
  EXPECT_EQ(result.best_step, 28) << "but of equals the later is kept";
}

TEST(Trainer, SaysWhatStoppedBeingFinite) {
  const ScratchFolder folder;
  Toy toy;
  toy.burst_at = 5;
  const std::string sentence =
      error_of([&] { train(toy, {.options = steps(20), .folder = folder.path()}); });
  EXPECT_NE(sentence.find("at step 6"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("'weight'"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("rate"), std::string::npos) << sentence;
  Toy last_good;
  load_parameters(Safetensors::open(folder.path() + "/state.safetensors"), "state",
                  last_good.parameters(), "parameter/");
  for (float w : last_good.weight_.read()) EXPECT_TRUE(std::isfinite(w));
}

TEST(Trainer, AccumulatedBatchesMakeOneStep) {
  TrainOptions o = steps(0);
  o.epochs = 2;
  o.accumulate = 3;  // of 7 batches: 3, 3, 1
  Toy toy;
  const TrainResult result = train(toy, {.options = o});
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(result.stopped, "epochs");
  EXPECT_EQ(toy.validations, 2u);
}

TEST(Trainer, ReadsTimes) {
  EXPECT_EQ(seconds_of("90"), 90);
  EXPECT_EQ(seconds_of("90s"), 90);
  EXPECT_EQ(seconds_of("1.5m"), 90);
  EXPECT_EQ(seconds_of("2h"), 7200);
  EXPECT_EQ(seconds_of(""), 0);
  for (const char* wrong : {"soon", "5 m", "-3s", "0s", "3d"})
    EXPECT_THROW(seconds_of(wrong), Error);
}

TEST(Trainer, NeedsABudget) {
  Toy toy;
  EXPECT_THROW(train(toy, {}), Error);
}

TEST(Checkpoint, OfAnotherModelIsRefusedAndChangesNothing) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/other.safetensors";
  Parameters other(2);
  Scope(other).param("weight", {3, 4}, init::ones());
  save_parameters(path, other);
  Toy toy;
  const Tensor before = toy.weight_;
  EXPECT_NE(error_of([&] { load_parameters(path, toy.parameters()); }).find("no array 'unused'"),
            std::string::npos);
  expect_same_bits(before, toy.weight_);
}

}  // namespace
}  // namespace fovea::test
