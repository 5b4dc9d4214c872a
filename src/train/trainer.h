// The training loop: knows no model and no task. What it needs of them is a Learner; what it leaves
// in a folder is
//   model.safetensors   the best weights so far (or the last ones), averaged if asked for
//   state.safetensors   all that a killed run needs to go on to the very same weights
//   metrics.jsonl       a line for every few steps and every validation
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "fovea/base/communicator.h"
#include "fovea/base/fitting.h"
#include "fovea/nn/scope.h"
#include "fovea/train/metric.h"
#include "fovea/train/options.h"

namespace fovea {

// What is trained: a model with its data.
class Learner {
 public:
  virtual ~Learner() = default;
  virtual const Parameters& parameters() const = 0;  // those that are stepped, saved and averaged
  // Lays out the batches of an epoch, which depend on its number alone; how many there are.
  virtual int64_t begin_epoch(int64_t epoch) = 0;

  // What is fitted rather than learned by steps is fitted here, once, before the first of them.
  virtual FitChoice fit(const FitLimits& limits) {
    (void)limits;
    return {};
  }
  // Once all is chosen and measured: what is fitted is fitted again, to the validation examples
  // too, as fit() chose. Whether it was.
  virtual bool refit(const FitChoice& choice) {
    (void)choice;
    return false;
  }
  // Whether there is anything to fit.
  virtual bool fits() const { return false; }
  // Whether there are steps at all.
  virtual bool learns_by_steps() const { return true; }

  // What a batch, or a shard of it, adds to a step.
  struct Loss {
    Tensor loss;        // one number, recorded on the tape of the step, which has a random stream
    int64_t tokens;     // that it was measured on
    int64_t terms = 0;  // that it is the mean of: what it counts beside other shards of its batch
    bool sum = false;   // it is their sum instead
  };
  // Of a batch of this epoch, counted from 0, with what it needs recorded on this thread's tape. Of
  // a learner whose batches can be cut, of the shard that it was told to take.
  virtual Loss loss(int64_t batch) = 0;

  // Some of the examples of a batch: a batch is cut into shards whose gradients add up to its own.
  struct Shard {
    int64_t number = 0, of = 1;                                     // which of how many
    int64_t begin(int64_t n) const { return n * number / of; }      // the first of n examples
    int64_t end(int64_t n) const { return n * (number + 1) / of; }  // and behind its last
  };
  // The next calls of loss() are about this one.
  void take_shard(const Shard& shard) { shard_ = shard; }
  // Examples of a batch, between which it can be cut; 0: it cannot be cut.
  virtual int64_t examples_in(int64_t batch) const {
    (void)batch;
    return 0;
  }

  // The first one decides which weights are best.
  virtual std::vector<Metric> validate() = 0;

 protected:
  Shard shard_;  // that loss() is about
};

// Where training stands after a step.
struct TrainProgress {
  int64_t step, epoch;             // steps done so far, and the epoch they are in, from 0
  double done;                     // part of the budget, 0 to 1
  double seconds;                  // of training so far, interruptions not counted
  double loss;                     // mean since the last line of the log
  double rate;                     // of learning
  double tokens_per_second;        // since the last line of the log
  std::vector<Metric> validation;  // empty on most steps
};

// What training came to.
struct TrainResult {
  // Why: "time", "steps", "epochs", "early stop", "fitted", "interrupted", "nothing to learn".
  std::string stopped;
  int64_t steps = 0, epochs = 0, best_step = 0;  // done; whole ones; the step of `best`
  int64_t first_step = 0;                        // where it went on from
  double seconds = 0;                            // of all training, with what came before a restart
  double step_seconds = 0;                       // of one step, validations not counted
  double wait_seconds = 0;                       // of it, waiting for other ranks
  std::optional<Metric> best;  // the best validation's first metric; none: there was no validation
  FitChoice fitted{};          // here; of no tries where nothing was
};

// What to train with, and whom to tell.
struct TrainCall {
  TrainOptions options{};  // how long, and how
  std::string folder{};    // "": nothing is written
  bool resume = false;     // go on from folder/state.safetensors, if there is one
  std::function<void(const TrainProgress&)> progress{};  // after every step
  // Save and return "interrupted" when this is set, or when this, asked before every step, says so.
  const std::atomic<bool>* stop = nullptr;
  std::function<bool()> stop_when{};
  // Asked before every step: says that it is enough, as a budget that is reached does, but without
  // a part in the schedule, which goes by the budget alone.
  std::function<bool(int64_t step)> enough{};
  bool fit_only = false;                 // what is fitted is fitted, and no step is taken
  int64_t fit_tries = 0;                 // of what is fitted, at most; 0: as many as there are
  std::vector<ParameterGroup> groups{};  // parameters with rates of their own
  // Processes that each do some shards of every batch; null: this one does all. Rank 0 decides,
  // validates and writes; the others read the folder, and their progress and stops count for
  // nothing.
  Communicator* ranks = nullptr;
};

// The learner is left with its last weights; where they are averaged, with the mean, unless it was
// interrupted; without a folder to keep the best ones in, with the best. Throws, with the last good
// state left on disk, when the loss is no longer finite.
TrainResult train(Learner& learner, const TrainCall& call);

}  // namespace fovea
