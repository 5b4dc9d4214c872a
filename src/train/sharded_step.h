// A step of training whose batch is cut into shards, done by one process or by several: the new
// weights have the same bits for any number of ranks and threads. Losses are means over terms; a
// shard's gradient counts as many times as it has terms, so that the sum of shards is the gradient
// of the batch. What a model takes over a batch (the baseline of REINFORCE, say) it takes over a
// shard, and what it draws is a function of step, batch and shard, never of the rank.
#pragma once

#include "fovea/train/gradient_exchange.h"
#include "fovea/train/trainer.h"

namespace fovea {

class ShardedStep {
 public:
  // Every rank makes one, of the same model and options.
  ShardedStep(Learner& learner, const TrainOptions& options,
              const std::vector<ParameterGroup>& groups, Communicator& ranks);

  // What a step was made of, the same on every rank.
  struct Figures {
    double loss = 0;     // mean over the terms of a batch; of several batches, their mean
    int64_t tokens = 0;  // of all shards
    double norm = 0;     // of the gradient
    double factor = 0;   // of the rate, as rank 0 said
  };
  // The gradient of the batches [first, first + count): their mean. `factor` is asked on rank 0
  // once all is computed.
  Figures gradient(int64_t first, int64_t count, const Random& random,
                   const std::function<double()>& factor);
  // Steps by what gradient() has left, clipped; every rank then has all new weights.
  void update(const Figures& figures, double clip);
  // The first parameter of the table, by its name, whose gradient is not finite; "": none is.
  std::string not_finite();

  // As an Optimizer's, of all ranks' parts together; on rank 0, and nothing elsewhere. All call it.
  std::vector<NamedTensor> state();
  void restore(const Safetensors& from) { optimizer_->restore(from); }
  // Seconds of waiting for others so far.
  double waited() const { return exchange_.waited() + gathering_; }

 private:
  std::vector<std::vector<double>> gather(const std::vector<double>& mine,
                                          const std::vector<size_t>& sizes);
  void batch_gradient(int64_t batch, const Random& random, Figures& figures, double share,
                      bool last, const std::function<double()>& factor);
  std::vector<double> squares() const;
  double norm_of(const std::vector<std::vector<double>>& squares, size_t from) const;

  Learner& learner_;
  Communicator& ranks_;
  int64_t shards_;
  bool sequences_;  // ranks share every sequence instead of the batch
  GradientLayout layout_;
  GradientExchange exchange_;
  GradientLayout::Slices mine_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<float> sum_;        // of several batches, this rank's segments one after the other
  std::vector<uint8_t> present_;  // by part of the layout, over all ranks and batches
  double scale_ = 1;              // that the gradient in vector() still lacks
  double gathering_ = 0;
};

}  // namespace fovea
