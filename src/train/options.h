// What can be said about training.
#pragma once

#include <cstdint>
#include <string>

#include "fovea/base/fields.h"
#include "fovea/train/optimizer.h"
#include "fovea/train/schedule.h"

namespace fovea {

struct TrainOptions {
  // Budget: training stops at the first one reached.
  std::string time;  // "90s", "5m", "2h"
  int64_t steps = 0, epochs = 0;

  int64_t batch = 64;              // examples a batch
  int64_t batch_tokens = 0;        // most tokens a batch, padding included; 0: no limit
  int64_t accumulate = 1;          // batches whose gradients make one step
  int64_t shards = 1;              // parts of a batch that different processes may do
  bool sequence_parallel = false;  // processes share every sequence instead of the batch

  // The rule and its numbers, as OptimizerOptions (optimizer.h) has them.
  std::string optimizer = "adam";
  double rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, momentum = 0.9, rho = 0.95;
  bool centred = false;
  double weight_decay = 0;

  // How the rate moves, as ScheduleOptions (schedule.h) has it.
  std::string schedule = "constant";
  int64_t warmup = 0, decay_every = 0, hold = 0, patience = 2;
  double decay = 0.5, floor = 0;

  double clip = 1;       // longest gradient; 0: any
  double smoothing = 0;  // of labels

  int64_t validate_every = 0;        // steps; 0: once an epoch
  int64_t validate_examples = 1000;  // at most so many; 0: all
  int64_t early_stop = 0;            // validations without a better one; 0: never
  bool keep_best = true;             // else the last weights
  double save_every = 20;            // seconds between states that a killed run resumes from
  // The weights that are validated, kept and shipped are the mean of the last so many snapshots,
  // one taken before each validation; training goes on from its own. 0 or 1: off.
  int64_t average = 0;
  bool tensorboard = false;  // event files of the curves are written too
  int64_t seed = 0;          // of first values, order and dropout
};

// How long: time, steps, epochs, early stopping.
const Fields<TrainOptions>& budget_fields();
// How, and what is kept.
const Fields<TrainOptions>& training_fields();
// Those of training_fields() that count for the chosen optimiser and schedule.
std::vector<FieldInfo> training_options(const Settings& settings, const TrainOptions& start);

// The options' part that make_optimizer takes.
inline OptimizerOptions optimizer_options(const TrainOptions& o) {
  return {.kind = o.optimizer,
          .rate = o.rate,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .eps = o.eps,
          .momentum = o.momentum,
          .rho = o.rho,
          .centred = o.centred,
          .weight_decay = o.weight_decay};
}

// The options' part that a Schedule takes.
inline ScheduleOptions schedule_options(const TrainOptions& o) {
  return {.schedule = o.schedule,
          .warmup = o.warmup,
          .decay = o.decay,
          .decay_every = o.decay_every,
          .hold = o.hold,
          .patience = o.patience,
          .floor = o.floor};
}

// Seconds of "90", "90s", "5m", "1.5h"; 0 for "".
double seconds_of(const std::string& time);

}  // namespace fovea
