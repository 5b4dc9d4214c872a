// Every task's batches: what their shards add up to is what the batch is.
#include <gtest/gtest.h>

#include "fovea/op/tape.h"
#include "fovea/task/solver.h"
#include "fovea/train/sharded_step.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

struct Trial {
  std::string task, data;
  Settings more;
};

std::unique_ptr<Solver> solver_of(const Trial& run) {
  const Task& task = find_task(run.task);
  Settings said{{"data", run.data}, {"examples", "60"}};
  said.set(run.more);
  return task.make(make_config(task, said), Purpose::learn, "");
}

TEST(Shards, OfEveryTaskAddUpToItsBatch) {
  const std::vector<Trial> runs{
      {"translate",
       "builtin:reverse",
       {{"embed", "8"}, {"width", "12"}, {"score_width", "8"}, {"dropout", "0"}}},
      {"label",
       "builtin:tags",
       {{"score", "scaled"}, {"embed", "8"}, {"width", "12"}, {"dropout", "0"}}},
      {"classify",
       "builtin:sentiment",
       {{"embed", "8"}, {"width", "12"}, {"score_width", "8"}, {"dropout", "0"}}},
      {"lm",
       "builtin:dates",
       {{"width", "12"},
        {"heads", "2"},
        {"context", "16"},
        {"dropout", "0"},
        {"attention_dropout", "0"}}},
      {"qa",
       "builtin:stories",
       {{"model", "memn2n"}, {"width", "12"}, {"linear_start", "0"}, {"noise", "0"}}},
      {"qa", "builtin:stories", {{"model", "entnet"}, {"width", "12"}, {"slots", "3"}}},
      {"qa", "builtin:stories", {{"model", "memnn"}, {"width", "12"}}},
      {"qa", "builtin:stories", {{"model", "memnn"}, {"width", "12"}, {"response", "lstm"}}},
      {"algorithm",
       "builtin:copy",
       {{"width", "12"}, {"slots", "6"}, {"lengths", "1-3"}, {"test_lengths", "2"}}},
  };
  for (const Trial& run : runs) {
    SCOPED_TRACE(run.task + " " + run.more.get("model"));
    Settings settings = run.more;
    const auto solver = solver_of({run.task, run.data, settings});
    solver->begin_epoch(0);
    TrainOptions options = solver->config();
    // With a stream, as losses draw; but nothing is dropped.
    Random random(1);
    Tape tape(random);
    const Learner::Loss whole = solver->loss(0);
    const double loss = whole.loss.item();
    const double norm = gradient_norm(solver->parameters(), tape.backward(whole.loss));
    for (int64_t shards : {3, 8}) {
      options.shards = shards;
      InMemoryRanks alone(1);
      ShardedStep step(*solver, options, {}, alone.at(0));
      const auto figures = step.gradient(0, 1, Random(1), [] { return 1.0; });
      EXPECT_NEAR(figures.loss / loss, 1, 1e-4);
      EXPECT_NEAR(figures.norm / norm, 1, 1e-3);
      EXPECT_EQ(figures.tokens, whole.tokens);
      solver->take_shard({});
    }
  }
}

}  // namespace
}  // namespace fovea::test
