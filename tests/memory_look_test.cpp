// How models of stories look at what they remember: by any score, any alignment.
#include <gtest/gtest.h>

#include "fovea/attention/recorder.h"
#include "fovea/model/memory/end_to_end.h"
#include "fovea/model/memory/entity_network.h"
#include "fovea/model/memory/key_value.h"
#include "fovea/model/memory/look.h"
#include "support/layer.h"
#include "support/small_stories.h"

namespace fovea::test {
namespace {

// What makes a model that looks as it is told.
using Looking = std::function<std::unique_ptr<const Scorer>(Scope, const AttentionOptions&)>;
std::vector<std::pair<std::string, Looking>> lookers() {
  return {{"memn2n",
           [](Scope s, const AttentionOptions& look) {
             EndToEndOptions o;
             o.width = 3, o.memory = 4, o.hops = 2;
             return std::make_unique<EndToEndMemory>(s, sizes, o, look);
           }},
          {"kv",
           [](Scope s, const AttentionOptions& look) {
             KeyValueOptions o;
             o.width = 3;
             return std::make_unique<KeyValueMemory>(s, sizes, o, look);
           }},
          {"entnet", [](Scope s, const AttentionOptions& look) {
             EntityOptions o;
             o.width = 3, o.slots = 2;
             return std::make_unique<EntityNetwork>(s, sizes, o, look);
           }}};
}

// Their losses take no log-probability along: what is drawn would never learn from how it ended.
TEST(MemoryLook, RefusesAlignmentsThatLearnFromAReward) {
  for (const auto& [name, make] : lookers()) {
    for (const Entry& entry : catalog()) {
      if (entry.kind != Entry::Kind::alignment) continue;
      SCOPED_TRACE(name + " " + entry.name);
      Parameters table(7);
      AttentionOptions look = softly();
      look.align = entry.name;
      std::string why;
      try {
        make(table, look);
      } catch (const Error& error) {
        why = error.what();
      }
      const bool rewarded = entry.name == "hard_reinforce" || entry.name == "reinforced";
      EXPECT_EQ(why, rewarded ? say(name, ": the alignment '", entry.name,
                                    "' learns from a reward, which this model does not hand on; "
                                    "'hard' draws and learns without one")
                              : "");
    }
  }
}

// A sentence is a set of slots to a score, and its empty slots stand behind it.
TEST(MemoryLook, EveryScoreLooksAtEveryMemory) {
  const Tensor targets = Tensor::ids({2}, {1, 0});
  for (const auto& [name, make] : lookers()) {
    Parameters plain(8);
    const Tensor by_dot = (*make(plain, softly()))(example()).scores;
    for (const Entry& entry : catalog()) {
      if (entry.kind != Entry::Kind::score) continue;
      SCOPED_TRACE(name + " " + entry.name);
      AttentionOptions look = softly();
      look.score = entry.name, look.score_width = 3, look.longest_keys = 6;
      Parameters table(8), doubles(8, Dtype::f64);
      const auto model = make(table, look), exact = make(doubles, look);
      const Tensor scores = (*model)(example()).scores;
      double apart = 0;
      for (int64_t i = 0; i < scores.elements(); ++i)
        apart += std::abs(scores.read()[i] - by_dot.read()[i]);
      EXPECT_EQ(apart > 0, entry.name != "dot");
      const Tensor one = (*model)(second_alone()).scores;
      for (int64_t c = 0; c < 3; ++c) EXPECT_NEAR(one.read()[c], scores.read()[3 + c], 1e-5);
      const Function f = [&](const std::vector<Tensor>&) {
        return exact->loss(example(), targets, 0);
      };
      EXPECT_LT(layer_error(doubles, f, std::vector<Tensor>()), 1e-5);
    }
  }
}

// The question stands behind the newest sentence: what is near to it is what came last.
TEST(MemoryLook, LocalAlignmentsLookAtTheNewest) {
  for (const char* name : {"memn2n", "kv"}) {
    SCOPED_TRACE(name);
    const auto list = lookers();
    const auto make =
        std::ranges::find(list, name, &std::pair<std::string, Looking>::first)->second;
    AttentionOptions look = softly();
    look.align = "local_m", look.reach = 2;
    Parameters table(9);
    const auto model = make(table, look);
    Recorder recorder;
    const Tensor scores = (*model)(example()).scores, one = (*model)(second_alone()).scores;
    const auto rows = recorder["hops"].rows.read();
    EXPECT_EQ(rows[0], 0) << "the oldest of three";
    EXPECT_GT(rows[1], 0);
    EXPECT_GT(rows[2], 0);
    for (int64_t c = 0; c < 3; ++c) EXPECT_NEAR(one.read()[c], scores.read()[3 + c], 1e-5);
  }
}

// Whatever the score is, its numbers are the weights.
TEST(MemoryLook, ALinearStartReadsByScores) {
  for (const char* score : {"dot", "general", "euclidean"}) {
    SCOPED_TRACE(score);
    AttentionOptions look = softly();
    look.score = score;
    EndToEndOptions o;
    o.width = 3, o.memory = 4, o.hops = 1, o.linear_start = 1;
    Parameters table(10);
    const EndToEndMemory model(table, sizes, o, look);
    double sums[2];
    for (const int64_t epoch : {0, 1}) {
      ModelInputs in = example();
      in.epoch = epoch;
      Recorder recorder;
      model(in);
      sums[epoch] = 0;
      for (float w : recorder["hops"].rows.read()) sums[epoch] += w;
    }
    EXPECT_GT(std::abs(sums[0] - 2), 1e-3);
    EXPECT_NEAR(sums[1], 2, 1e-5) << "a softmax for each of two stories";
  }
}

}  // namespace
}  // namespace fovea::test
