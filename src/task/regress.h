// regress: predicts a number from numbers by kernel pooling over the training examples.
#pragma once

#include <functional>

#include "fovea/data/table.h"

namespace fovea {

struct RegressOptions {
  int64_t steps = 300;
  double rate = 0.03;
  double held_out = 0.25;  // the part of the rows that only measures
  uint64_t seed = 0;
};

struct RegressResult {
  int64_t training_rows, held_out_rows;
  // Root mean square errors on the held-out rows.
  double rmse_mean;     // predicting the mean of the training targets
  double rmse_given;    // kernel pooling with w = 1 for features of unit deviation
  double rmse_learned;  // kernel pooling with w learned
  std::vector<double> w;
};

// `progress(step, loss)` is called after every step.
RegressResult train_regress(const NumberTable& table, const RegressOptions& options,
                            const std::function<void(int64_t, double)>& progress);

}  // namespace fovea
