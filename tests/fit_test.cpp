#include "fovea/train/fit.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "fovea/nn/linear.h"
#include "fovea/op/dropout.h"
#include "fovea/op/softmax.h"
#include "support/gradient.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

struct Batch {
  Tensor x, y;
};

// Two layers that learn exclusive or of their first two numbers, with dropout in between.
struct Small {
  explicit Small(uint64_t seed = 1)
      : table(seed), hidden(Scope(table) / "hidden", 3, 12), out(Scope(table) / "out", 12, 2) {}
  Tensor operator()(const Tensor& x) const { return out(dropout(tanh(hidden(x)), 0.1)); }
  Parameters table;
  Linear hidden, out;
};

std::vector<Batch> some_batches(int64_t n, uint64_t seed) {
  std::vector<Batch> all;
  Random random(seed);
  for (int64_t i = 0; i < n; ++i) {
    Batch b{Tensor({8, 3}), Tensor({8}, Dtype::i32)};
    for (int64_t r = 0; r < 8; ++r) {
      const bool p = random.below(2), q = random.below(2);
      b.x.write()[r * 3] = p ? 1.f : -1.f, b.x.write()[r * 3 + 1] = q ? 1.f : -1.f;
      b.x.write()[r * 3 + 2] = random.uniform();
      b.y.write<int32_t>()[r] = p != q;
    }
    all.push_back(b);
  }
  return all;
}

Tensor loss_of(const Small& model, const Batch& b) { return cross_entropy(model(b.x), b.y); }

double accuracy(const Small& model, const std::vector<Batch>& of) {
  double right = 0, all = 0;
  for (const Batch& b : of) {
    const Tensor best = argmax(model(b.x), -1);
    for (int64_t i = 0; i < best.elements(); ++i, ++all) {
      right += best.read<int32_t>()[i] == b.y.read<int32_t>()[i];
    }
  }
  return right / all;
}

FitOptions quick(int64_t steps) {
  FitOptions o;
  o.train.steps = steps;
  o.train.rate = 0.05;
  o.train.schedule = "cosine";
  o.train.validate_every = 10;
  o.train.save_every = 0;
  return o;
}

void expect_same_weights(const Parameters& a, const Parameters& b) {
  for (size_t i = 0; i < a.entries().size(); ++i) expect_same_bits(a.entries()[i], b.entries()[i]);
}

TEST(Fit, LearnsFromBatchesInMemoryAndKeepsTheBestWeightsWithoutAFolder) {
  Small model;
  const auto batches = some_batches(6, 1), held_out = some_batches(4, 2);
  FitOptions options = quick(80);
  std::vector<double> seen;
  options.validate = [&] {
    // Made worse on purpose at the end: the weights before that must come back.
    seen.push_back(accuracy(model, held_out) - (seen.size() >= 6 ? 1 : 0));
    return Metric{"accuracy", true, seen.back()};
  };
  int64_t steps = 0;
  options.progress = [&](const TrainProgress& p) { steps = p.step; };
  const TrainResult result = fit(
      model.table, batches, [&](const Batch& b) { return loss_of(model, b); }, options);
  EXPECT_EQ(result.stopped, "steps");
  EXPECT_EQ(steps, 80);
  EXPECT_EQ(result.best_step, 60) << "of equals the later";
  EXPECT_EQ(accuracy(model, held_out), 1);
  EXPECT_EQ(*std::ranges::max_element(seen), 1);

  Small until(1);
  FitOptions same = quick(60);
  same.train.schedule = "constant";
  EXPECT_THROW(fit(
                   until.table, std::vector<Batch>{},
                   [&](const Batch& b) { return loss_of(until, b); }, same),
               Error);
}

TEST(Fit, GoesOnToTheSameBitsAfterItWasStopped) {
  const ScratchFolder folder;
  const auto batches = some_batches(5, 3);
  const auto run = [&](Small& model, const std::string& path, int64_t stop_at) {
    FitOptions options = quick(30);
    options.folder = path;
    options.resume = true;
    options.train.average = 2;
    int64_t step = 0;
    options.progress = [&](const TrainProgress& p) { step = p.step; };
    options.stop = [&] { return step == stop_at; };
    return fit(
               model.table, batches, [&](const Batch& b) { return loss_of(model, b); }, options)
        .stopped;
  };
  Small whole, first, second(99);
  EXPECT_EQ(run(whole, folder.path() + "/whole", -1), "steps");
  EXPECT_EQ(run(first, folder.path() + "/parts", 13), "interrupted");
  EXPECT_EQ(run(second, folder.path() + "/parts", -1), "steps");
  expect_same_weights(whole.table, second.table);
}

TEST(Fit, IsTheLoopThatTasksTrainWith) {
  // The same steps through a Learner give the same bits.
  const auto batches = some_batches(4, 5);
  Small a, b;
  FitOptions options = quick(12);
  options.shuffle = false;
  fit(
      a.table, batches, [&](const Batch& x) { return loss_of(a, x); }, options);
  struct Own : Learner {
    Small& model;
    const std::vector<Batch>& batches;
    Own(Small& m, const std::vector<Batch>& l) : model(m), batches(l) {}
    const Parameters& parameters() const override { return model.table; }
    int64_t begin_epoch(int64_t) override { return static_cast<int64_t>(batches.size()); }
    Loss loss(int64_t i) override { return {loss_of(model, batches[static_cast<size_t>(i)]), 1}; }
    std::vector<Metric> validate() override { return {{"none", true, 0}}; }
  } own(b, batches);
  TrainCall call;
  call.options = options.train;
  call.options.keep_best = false;
  train(own, call);
  expect_same_weights(a.table, b.table);
}

TEST(Fit, RefusesWhatItCannotDo) {
  Small model;
  const auto batches = some_batches(2, 1);
  const auto loss = [&](const Batch& b) { return loss_of(model, b); };
  FitOptions options = quick(2);
  options.train.early_stop = 2;
  EXPECT_THROW(fit(model.table, batches, loss, options), Error) << "nothing validates";
  options = quick(0);
  EXPECT_THROW(fit(model.table, batches, loss, options), Error) << "no budget";
  options = quick(2);
  EXPECT_THROW(fit(
                   model.table, batches, [&](const Batch& b) { return model(b.x); }, options),
               Error)
      << "not one number";
}

}  // namespace
}  // namespace fovea::test
