// Training from memory: batches of any type and a loss of one, under the loop that the tasks train
// with (trainer.h): schedules, clipping, averaging, validation, best weights, resuming.
//
//   FitOptions options;
//   options.train.epochs = 20;
//   options.validate = [&] { return Metric{"accuracy", true, accuracy(model, held_out)}; };
//   fit(parameters, batches, [&](const Batch& b) { return cross_entropy(model(b.x), b.y); },
//   options);
#pragma once

#include <functional>
#include <ranges>
#include <string>
#include <vector>

#include "fovea/train/trainer.h"

namespace fovea {

// How fit() trains.
struct FitOptions {
  TrainOptions train{};  // budget, optimiser, schedule, clip, average; batch and smoothing are the
                         // caller's own matter, and not read
  // How good the weights are, which decides which ones are kept; none: the last ones are kept.
  std::function<Metric()> validate{};
  std::string folder{};  // model.safetensors, state.safetensors and metrics.jsonl; "": nothing
  bool resume = false;   // go on from the folder's state, if it has one: to the same bits
  bool shuffle = true;   // another order of the batches each epoch, by train.seed
  std::function<void(const TrainProgress&)> progress{};  // after every step
  std::function<bool()> stop{};          // asked before every step: whether to save and stop
  std::vector<ParameterGroup> groups{};  // parameters with rates of their own
};

// The loss of batch i of `batches`, one number on the tape of the step.
using BatchLoss = std::function<Tensor(int64_t batch)>;
// Trains on them until the budget is used up.
TrainResult fit(const Parameters& model, int64_t batches, const BatchLoss& loss,
                const FitOptions& options);

// Makes the loss of a batch small: a function of one element of `batches`, a vector or another
// range whose elements can be picked by number. The model is left with the best weights where they
// are validated (the mean of the last ones with train.average), else with the last.
template <std::ranges::random_access_range Batches, class Loss>
TrainResult fit(const Parameters& model, const Batches& batches, const Loss& loss,
                const FitOptions& options) {
  const auto from = std::ranges::begin(batches);
  return fit(model, static_cast<int64_t>(std::ranges::size(batches)), BatchLoss([&](int64_t i) {
               return loss(from[static_cast<std::ranges::range_difference_t<const Batches>>(i)]);
             }),
             options);
}

}  // namespace fovea
