// A number for a text by a weighted sum of its features: ridge regression over n-grams. What large
// weights cost is chosen on the validation examples, by the squared error.
#pragma once

#include "fovea/model/linear/classifier.h"

namespace fovea {

// Fitted, never trained by steps.
class LinearRegressor : public Scorer, public Fitted {
 public:
  LinearRegressor(Scope s, const ModelSizes& sizes, const LinearModelOptions& options);

  // Reads ModelInputs::sparse.
  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;
  bool refit(const Examples& all, const FitChoice& choice) const override;
  // What a feature of value 1 adds to the number.
  double vote(int32_t feature) const {
    return static_cast<double>(weight_.read()[static_cast<size_t>(feature)]);
  }

 private:
  double cost_;
  Parameter weight_, bias_;  // [features, 1], [1]
};

// The mean of what was learned from, whatever the text.
class MeanNumber : public Scorer, public Fitted {
 public:
  explicit MeanNumber(Scope s) : mean_(s.param("mean", {1}, init::zeros())) {}

  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;

 private:
  Parameter mean_;
};

}  // namespace fovea
