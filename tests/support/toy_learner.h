// A learner small enough to see through, for tests of the training loop.
#pragma once

#include <cmath>

#include "fovea/op/dropout.h"
#include "fovea/op/linear.h"
#include "fovea/train/trainer.h"
#include "support/gradient.h"

namespace fovea::test {

// y = W x from noisy batches; dropout makes every step draw.
class Toy : public Learner {
 public:
  explicit Toy(double noise = 0.1) : noise_(noise) {
    weight_ = Scope(table_).param("weight", {3, 4}, init::normal(0.5));
    Scope(table_).param("unused", {2}, init::ones());
  }
  const Parameters& parameters() const override { return table_; }
  int64_t begin_epoch(int64_t epoch) override {
    epoch_ = epoch;
    return 7;
  }
  Loss loss(int64_t batch) override {
    const uint64_t seed = static_cast<uint64_t>(epoch_ * 100 + batch);
    const Tensor x = random_tensor({5, 4}, seed, -1, 1, Dtype::f32);
    const Tensor y = linear(dropout(x, 0.2), weight_);
    Tensor loss = mean(square(y - random_tensor({5, 3}, seed + 7, -noise_, noise_, Dtype::f32)));
    if (burst_at >= 0 && batch == burst_at) loss = loss * INFINITY;
    return {loss, 5};
  }
  std::vector<Metric> validate() override {
    ++validations;
    if (!given.empty()) {
      const double value = given[std::min<size_t>(validations - 1, given.size() - 1)];
      return {{"given", true, value}};
    }
    return {{"size", false, sum(square(weight_)).item()}};
  }

  int64_t burst_at = -1;
  size_t validations = 0;
  std::vector<double> given;
  Parameter weight_;

 private:
  Parameters table_{1};
  double noise_;
  int64_t epoch_ = 0;
};

inline TrainOptions steps(int64_t n) {
  TrainOptions o;
  o.steps = n;
  o.rate = 0.05;
  o.schedule = "cosine";
  o.warmup = 3;
  o.save_every = 0;  // after every step
  return o;
}

}  // namespace fovea::test
