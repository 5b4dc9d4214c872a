// Baselines of numbers: the nearest known examples (Fix, Hodges 1951), and least squares (Legendre
// 1805).
//   nearest: f(q) = mean of v_j over the k nearest k_j        least squares: f(q) = w . q + b
#pragma once

#include "fovea/model/model.h"
#include "fovea/nn/scope.h"

namespace fovea {

// How many neighbours is chosen on validation.
class NearestNeighbours : public Scorer, public Fitted {
 public:
  explicit NearestNeighbours(Scope s) : count_(s.param("count", {1}, init::constant(1))) {
    count_.freeze();
  }

  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;

 private:
  Parameter count_;
};

// Solves the normal equations; a little on their diagonal keeps that possible.
class LeastSquares : public Scorer, public Fitted {
 public:
  LeastSquares(Scope s, const ModelSizes& sizes)
      : weight_(s.param("weight", {sizes.features + 1}, init::zeros())) {
    weight_.freeze();
  }

  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;

 private:
  Parameter weight_;  // the last with a feature that is 1 everywhere
};

}  // namespace fovea
