// What is measured where the answer is a number.
#pragma once

#include "fovea/task/solver.h"

namespace fovea {

class NumberMetrics {
 public:
  // One more example.
  void add(double truth, double predicted) {
    rmse_.tallies.push_back(rmse_tally(truth, predicted));
    mae_.tallies.push_back(mae_tally(truth, predicted));
    r2_.tallies.push_back(r2_tally(truth, predicted));
  }
  std::vector<Evaluation::One> all() const { return {rmse_, mae_, r2_}; }  // rmse first

 private:
  Evaluation::One rmse_{"rmse", {}}, mae_{"mae", {}}, r2_{"r2", {}};
};

}  // namespace fovea
