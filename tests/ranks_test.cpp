// Batches cut into shards, and ranks that share them.
#include <gtest/gtest.h>

#include <numeric>

#include "fovea/base/parallel.h"
#include "fovea/op/dropout.h"
#include "fovea/op/linear.h"
#include "fovea/train/checkpoint.h"
#include "fovea/train/shard_tree.h"
#include "fovea/train/sharded_step.h"
#include "support/gradient.h"
#include "support/in_memory_ranks.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// What a tree adds, as text: each rank folds its shards, the nodes of all are then added up.
std::string sum_text(int64_t shards, int ranks) {
  std::vector<TreeNode> nodes;
  std::vector<std::string> sums;
  const auto join = [&](size_t i, size_t j) { sums[i] = "(" + sums[i] + "+" + sums[j] + ")"; };
  for (int r = 0; r < ranks; ++r) {
    const int64_t from = shards * r / ranks, to = shards * (r + 1) / ranks;
    for (const TreeNode& node : nodes_of(from, to)) {
      std::vector<TreeNode> leaves;
      const size_t first = sums.size();
      for (int64_t s = node.first; s < node.end(); ++s) {
        leaves.push_back({s, 1});
        sums.push_back(std::to_string(s));
      }
      add_up(leaves, [&](size_t i, size_t j) { join(first + i, first + j); });
      sums.resize(first + 1);
      nodes.push_back(node);
    }
  }
  add_up(nodes, join);
  return sums[0];
}

TEST(ShardTree, IsTheSameForAnyNumberOfRanks) {
  EXPECT_EQ(sum_text(7, 1), "(((0+1)+(2+3))+((4+5)+6))");
  for (int64_t shards = 1; shards <= 17; ++shards) {
    for (int ranks = 1; ranks <= shards; ++ranks) {
      EXPECT_EQ(sum_text(shards, ranks), sum_text(shards, 1)) << shards << " on " << ranks;
    }
  }
  // A rank of 8 shards on 4 ranks has one node to send, of 3 ranks two at most.
  EXPECT_EQ(nodes_of(2, 4), (std::vector<TreeNode>{{2, 2}}));
  EXPECT_EQ(nodes_of(2, 5), (std::vector<TreeNode>{{2, 2}, {4, 1}}));
}

TEST(Ranks, TalkToEachOther) {
  for (int n : {1, 2, 3, 5}) {
    on_ranks(n, [n](Communicator& ranks) {
      for (int from = 0; from < n; ++from) {
        EXPECT_EQ(broadcast_value(ranks, ranks.rank() == from ? 40 + from : 0, from), 40 + from);
      }
      std::vector<int> expected(static_cast<size_t>(n));
      std::iota(expected.begin(), expected.end(), 7);
      EXPECT_EQ(all_gather_value(ranks, 7 + ranks.rank()), expected);
      barrier(ranks);
    });
  }
}

TEST(Ranks, ALostOneIsAnErrorForWhoWaits) {
  EXPECT_EQ(error_of([] {
              on_ranks(3, [](Communicator& ranks) {
                if (ranks.rank() == 1) fail("rank 1 fails");
                barrier(ranks);
              });
            }),
            "rank 1 fails");
}

// y = W x over examples that can be cut; a mean over rows of different numbers.
class Cuttable : public Learner {
 public:
  explicit Cuttable(double dropped = 0.2) : dropped_(dropped) {
    const Scope s(table_);
    // Large enough that ranks share a parameter, and that a bucket is not the whole.
    inner_ = s.param("inner", {700, 6}, init::normal(0.5));
    outer_ = s.param("outer", {4, 700}, init::normal(0.1));
    s.param("unused", {3}, init::ones());
  }
  const Parameters& parameters() const override { return table_; }
  int64_t begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    return 5;
  }
  // The last batch has fewer examples than there are shards.
  int64_t examples_in(int64_t batch) const override { return batch == 4 ? 3 : 9; }
  Loss loss(int64_t batch) override {
    const int64_t n = examples_in(batch), from = shard_.begin(n), to = shard_.end(n);
    std::vector<float> x, y;
    int64_t rows = 0;
    for (int64_t i = from; i < to; ++i) {
      Random random = Random(3).fork(static_cast<uint64_t>(epoch_ * 50 + batch * 10 + i));
      for (int64_t row = 0; row <= i % 3; ++row, ++rows) {
        for (int k = 0; k < 6; ++k) x.push_back(random.uniform() - 0.5f);
        for (int k = 0; k < 4; ++k) y.push_back(random.uniform());
      }
    }
    const Tensor in = Tensor::of({rows, 6}, x), wanted = Tensor::of({rows, 4}, y);
    const Tensor out = linear(dropout(tanh(linear(in, inner_)), dropped_), outer_);
    return {mean(square(out - wanted)), rows, rows * 4};
  }
  std::vector<Metric> validate() override { return {{"size", false, sum(square(outer_)).item()}}; }

 private:
  Parameters table_{1};
  Parameter inner_, outer_;
  double dropped_;
  int64_t epoch_ = 0;
};

TrainOptions in_shards(int64_t shards, int64_t steps) {
  TrainOptions o;
  o.steps = steps;
  o.shards = shards;
  o.rate = 0.02;
  o.optimizer = "adamw";
  o.weight_decay = 0.01;
  o.clip = 0.05;  // always in force
  o.schedule = "cosine";
  o.warmup = 2;
  o.save_every = 0;
  return o;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Trains on so many ranks; every rank's weights are those of the first.
std::vector<Tensor> weights_after(const TrainOptions& options, int ranks,
                                  const std::string& folder = "", bool resume = false,
                                  int64_t stop_at = -1) {
  std::vector<std::vector<Tensor>> all(static_cast<size_t>(ranks));
  std::atomic<bool> stop{false};
  on_ranks(ranks, [&](Communicator& mine) {
    Cuttable learner;
    train(learner, {.options = options,
                    .folder = folder,
                    .resume = resume,
                    .progress = [&](const TrainProgress& p) { stop = p.step == stop_at; },
                    .stop = &stop,
                    .ranks = ranks == 1 ? nullptr : &mine});
    for (const Parameter& p : learner.parameters().entries()) {
      all[static_cast<size_t>(mine.rank())].push_back(p);
    }
  });
  for (const auto& theirs : all) {
    for (size_t i = 0; i < theirs.size(); ++i) expect_same_bits(theirs[i], all[0][i]);
  }
  return all[0];
}

TEST(Shards, AddUpToTheGradientOfTheBatch) {
  Cuttable whole(0), cut(0);
  for (int64_t batch : {0, 4}) {
    whole.begin_epoch(0), cut.begin_epoch(0);
    Random random(1);
    Tape tape(random);
    const auto loss = whole.loss(batch);
    const Gradients expected = tape.backward(loss.loss);
    InMemoryRanks one(1);
    TrainOptions options = in_shards(8, 1);
    options.optimizer = "sgd";
    options.momentum = 0;
    options.weight_decay = 0;
    options.rate = 1;
    ShardedStep step(cut, options, {}, one.at(0));
    const auto figures = step.gradient(batch, 1, Random(1), [] { return 1.0; });
    EXPECT_NEAR(figures.loss, loss.loss.item(), 1e-6);
    EXPECT_EQ(figures.tokens, loss.tokens);
    EXPECT_NEAR(figures.norm, gradient_norm(whole.parameters(), expected), 1e-6);
    std::vector<Tensor> before;
    for (const Parameter& p : cut.parameters().entries()) before.push_back(p);
    step.update(figures, 0);
    for (size_t i = 0; i < before.size(); ++i) {
      const Parameter &p = cut.parameters().entries()[i], &q = whole.parameters().entries()[i];
      EXPECT_LT(relative_difference(before[i] - p, expected.or_zeros(q)), 1e-4) << p.name();
      cut.parameters().entries()[i] = before[i];
    }
  }
}

TEST(Shards, SameBitsForAnyNumberOfRanksAndThreads) {
  const int before = threads();
  for (int64_t accumulate : {1, 2}) {
    TrainOptions options = in_shards(8, 7);
    options.accumulate = accumulate;
    const ScratchFolder one;
    const std::vector<Tensor> alone = weights_after(options, 1, one.path());
    for (int count : {1, 2}) {
      set_threads(count);
      for (int ranks : {2, 3, 4, 8}) {
        const ScratchFolder folder;
        const auto shared = weights_after(options, ranks, folder.path());
        for (size_t i = 0; i < alone.size(); ++i) expect_same_bits(shared[i], alone[i]);
        EXPECT_EQ(bytes_of(folder.path() + "/model.safetensors"),
                  bytes_of(one.path() + "/model.safetensors"))
            << ranks;
      }
    }
    set_threads(before);
  }
}

TEST(Shards, ARunGoesOnOnAnotherNumberOfRanks) {
  const TrainOptions options = in_shards(6, 9);
  const std::vector<Tensor> alone = weights_after(options, 1);
  for (const auto& [first, then] : {std::pair(4, 2), {1, 3}, {3, 1}, {2, 6}}) {
    const ScratchFolder folder;
    weights_after(options, first, folder.path(), false, 4);
    const auto ended = weights_after(options, then, folder.path(), true);
    for (size_t i = 0; i < alone.size(); ++i) expect_same_bits(ended[i], alone[i]);
  }
}

TEST(Shards, EachRankRemembersItsPartAlone) {
  on_ranks(4, [](Communicator& ranks) {
    Cuttable learner;
    const GradientLayout layout(learner.parameters(), 1000);
    EXPECT_GT(layout.buckets().size(), 1u);
    int64_t all = 0, most = 0;
    for (int r = 0; r < ranks.size(); ++r) {
      int64_t mine = 0;
      for (const auto& slice : layout.slices_of(r, ranks.size()).slices) mine += slice.count;
      EXPECT_EQ(mine, layout.segment_sum(r, ranks.size()));
      all += mine, most = std::max(most, mine);
    }
    EXPECT_EQ(all, learner.parameters().count());
    EXPECT_LT(most, layout.size() / ranks.size() +
                        2 * GradientLayout::block * static_cast<int64_t>(layout.buckets().size()));
  });
}

TEST(Shards, WhatCannotBeCutSaysSo) {
  EXPECT_NE(error_of([] { weights_after(in_shards(2, 1), 3); }).find("at least as many shards"),
            std::string::npos);
  class Whole : public Cuttable {
    int64_t examples_in(int64_t) const override { return 0; }
  };
  Whole whole;
  EXPECT_NE(error_of([&] { train(whole, {.options = in_shards(2, 1)}); }).find("cannot be cut"),
            std::string::npos);
}

TEST(Shards, ALossThatIsNotFiniteIsReportedByAll) {
  class Bursts : public Cuttable {
   public:
    Loss loss(int64_t batch) override {
      Loss one = Cuttable::loss(batch);
      if (shard_.number == 2) one.loss = one.loss * INFINITY;
      return one;
    }
  };
  on_ranks(2, [](Communicator& ranks) {
    Bursts learner;
    const std::string text =
        error_of([&] { train(learner, {.options = in_shards(4, 3), .ranks = &ranks}); });
    EXPECT_NE(text.find("at step 1; the first to stop being finite is the gradient of 'inner'"),
              std::string::npos)
        << text;
  });
}

}  // namespace
}  // namespace fovea::test
