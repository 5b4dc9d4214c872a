// Where a training run stands, beside its weights: all that a killed run needs to go on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/tensor/safetensors.h"

namespace fovea {

struct RunState {
  int64_t step = 0, epoch = 0, batch = 0;                // the next batch of the epoch
  int64_t validated_step = 0, best_step = 0, stale = 0;  // stale: validations since the best
  std::optional<double> best;            // value of the first metric; none before a validation
  std::string best_name;                 // of that metric
  bool best_is_higher = true;            // whether higher values of it are better
  double seconds = 0, step_seconds = 0;  // so far; those of steps alone
  double loss_sum = 0;                   // since the last line of the log
  int64_t loss_count = 0;                // steps that it sums over
  std::vector<double> schedule;          // as Schedule::state gives it

  // For the header of the file that holds the state.
  Safetensors::Metadata metadata() const;
  // The same back; an Error that names `path` when the file holds no such state.
  static RunState read(const Safetensors& file, const std::string& path);
};

}  // namespace fovea
