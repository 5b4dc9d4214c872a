// Numbers by a weighted sum of features, where large weights cost: Hoerl, Kennard, "Ridge
// Regression", 1970.
//   min_(w, b)  |w|^2 / 2 + C sum_i (w . x_i + b - y_i)^2
// Solved by conjugate gradients on the least squares (Hestenes, Stiefel 1952; Paige, Saunders
// 1982), each unknown scaled by the diagonal: features are too many for a matrix of their pairs.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fovea/model/inputs.h"

namespace fovea {

struct RidgeOptions {
  double cost = 1;          // C: what errors cost beside large weights
  double tolerance = 1e-4;  // how small the gradient becomes, as a part of what it was at zero
  int64_t rounds = 200;     // at most
};

// What a fit gives.
struct RidgeFit {
  std::vector<double> weight;  // features + 1: the last is b
  int64_t rounds = 0;          // before it settled, or was stopped
};

// The same bits on any number of threads. It begins at `start`, where a fit with another cost may
// have ended; of no weights: at zero.
RidgeFit fit_ridge(const SparseRows& rows, int64_t features, std::span<const float> targets,
                   const RidgeOptions& options, std::vector<double> start = {},
                   const std::function<bool()>& stop = nullptr);

}  // namespace fovea
