// A linear classifier of two classes, by coordinate descent in the dual: Hsieh, Chang, Lin,
// Keerthi, Sundararajan, "A Dual Coordinate Descent Method for Large-scale Linear SVM", 2008.
//   min_w  |w|^2 / 2 + C sum_i max(0, 1 - y_i w . x_i)^2
// The last element of w goes with a feature that is 1 everywhere.
#pragma once

#include <functional>
#include <vector>

#include "fovea/model/inputs.h"

namespace fovea {

struct DescentOptions {
  double cost = 1;         // C: what an error costs beside large weights
  double tolerance = 0.1;  // how far the gradient may be from its optimum
  int64_t rounds = 200;    // at most
};

// What a fit gives.
struct LinearFit {
  std::vector<double> weight;  // features + 1
  std::vector<double> dual;    // one an example: where a fit with another cost may start
  int64_t rounds = 0;          // before it settled, or was stopped
};

// is_first[i]: whether y_i is 1, else -1. The order of examples is a function of the round alone,
// so that the same data gives the same bits. A start of no dual is zero.
LinearFit fit_two_classes(const SparseRows& rows, int64_t features,
                          const std::vector<char>& is_first, const DescentOptions& options,
                          std::vector<double> start = {},
                          const std::function<bool()>& stop = nullptr);

// w . x_b + bias for every row: [rows, classes]; weight [features, classes], bias [classes].
Tensor sparse_linear(const SparseRows& rows, const Tensor& weight, const Tensor& bias);

}  // namespace fovea
