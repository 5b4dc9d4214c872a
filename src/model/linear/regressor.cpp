#include "fovea/model/linear/regressor.h"

#include <limits>
#include <numeric>

#include "fovea/model/linear/coordinate_descent.h"
#include "fovea/model/linear/ridge.h"

namespace fovea {

LinearRegressor::LinearRegressor(Scope s, const ModelSizes& sizes, const LinearModelOptions& o)
    : cost_(o.cost),
      weight_(s.param("weight", {sizes.sparse, 1}, init::zeros())),
      bias_(s.param("bias", {1}, init::zeros())) {
  weight_.freeze();
  bias_.freeze();
}

Scorer::Output LinearRegressor::operator()(const ModelInputs& in) const {
  return {sparse_linear(in.sparse, weight_, bias_)};
}

FitChoice LinearRegressor::fit(const Examples& train, const Examples& dev,
                               const FitLimits& limits) const {
  // What mostly is best comes first, and is found whatever the time; each starts where the one
  // before ended.
  const std::vector<double> costs =
      cost_ > 0 ? std::vector{cost_} : std::vector{0.3, 1.0, 3.0, 0.1, 0.03, 0.01};
  const int64_t features = weight_.dim(0);
  RidgeFit found;
  double least = std::numeric_limits<double>::infinity();
  FitChoice choice;
  for (size_t i = 0; i < costs.size() && !limits.end_after(choice.tries); ++i) {
    RidgeOptions options;
    options.cost = costs[i];
    found = fit_ridge(train.inputs.sparse, features, train.targets.read(), options,
                      std::move(found.weight), i > 0 ? limits.stop : nullptr);
    if (i > 0 && limits.stop && limits.stop()) break;  // not at its end
    ++choice.tries;
    std::vector<float> weight(found.weight.begin(), found.weight.end());
    const Tensor bias = Tensor::of({1}, {weight.back()});
    weight.pop_back();
    const Tensor weights = Tensor::of({features, 1}, weight);
    const Tensor numbers = sparse_linear(dev.inputs.sparse, weights, bias);
    double squares = 0;
    for (int64_t k = 0; k < numbers.elements(); ++k) {
      const double by = static_cast<double>(numbers.read()[k] - dev.targets.read()[k]);
      squares += by * by;
    }
    if (squares >= least) continue;
    least = squares;
    choice.chosen = {costs[i]};
    weight_ = weights;
    bias_ = bias;
  }
  return choice;
}

bool LinearRegressor::refit(const Examples& all, const FitChoice& choice) const {
  if (choice.chosen.size() != 1) return false;
  RidgeOptions options;
  options.cost = choice.chosen[0];
  const RidgeFit found = fit_ridge(all.inputs.sparse, weight_.dim(0), all.targets.read(), options);
  const std::vector<float> weight(found.weight.begin(), found.weight.end() - 1);
  weight_ = Tensor::of(weight_.shape(), weight);
  bias_ = Tensor::of({1}, {static_cast<float>(found.weight.back())});
  return true;
}

Scorer::Output MeanNumber::operator()(const ModelInputs& in) const {
  return {Tensor::full({in.text.count(), 1}, static_cast<double>(mean_.read()[0]))};
}

FitChoice MeanNumber::fit(const Examples& train, const Examples&, const FitLimits&) const {
  const auto numbers = train.targets.read();
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  mean_ = Tensor::full({1}, sum / static_cast<double>(numbers.size()));
  return {1, {}};
}

}  // namespace fovea
