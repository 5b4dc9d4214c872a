// Where a training run stands, beside its weights: all that a killed run needs to go on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fovea/tensor/safetensors.h"

namespace fovea {

struct RunState {
  int64_t step = 0, epoch = 0, batch = 0;  // the next batch of the epoch
  int64_t validated_step = 0, best_step = 0, stale = 0;
  std::optional<double> best;
  std::string best_name;
  bool best_is_higher = true;
  double seconds = 0, step_seconds = 0;  // so far; those of steps alone
  double loss_sum = 0;                   // since the last line of the log
  int64_t loss_count = 0;
  std::vector<double> schedule;

  Safetensors::Metadata metadata() const;
  static RunState read(const Safetensors& file, const std::string& path);
};

}  // namespace fovea
