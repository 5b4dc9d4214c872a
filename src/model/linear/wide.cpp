#include "fovea/model/linear/wide.h"

#include <limits>

#include "fovea/model/linear/calibration.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

WideClassifier::WideClassifier(Scope s, const ModelSizes& sizes, const LinearModelOptions& linear,
                               std::unique_ptr<const Scorer> attention)
    : linear_(s / "linear", sizes, linear),
      attention_(std::move(attention)),
      parts_(s.param("parts", {2}, init::zeros())) {
  parts_.freeze();
}

Scorer::Output WideClassifier::operator()(const ModelInputs& in) const {
  Output out = (*attention_)(in);
  const auto parts = parts_.read();
  out.scores = static_cast<double>(parts[0]) * linear_(in).scores +
               static_cast<double>(parts[1]) * out.scores;
  return out;
}

Tensor WideClassifier::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  return attention_->loss(in, targets, smoothing);
}

FitChoice WideClassifier::fit(const Examples& train, const Examples& dev,
                              const FitLimits& limits) const {
  parts_ = Tensor::of({2}, {1, 0});
  return linear_.fit(train, dev, limits);
}

void WideClassifier::tune(const std::vector<Examples>& dev) const {
  std::vector<Tensor> linear, attention, wanted;
  for (const Examples& batch : dev) {
    linear.push_back(linear_(batch.inputs).scores);
    attention.push_back((*attention_)(batch.inputs).scores);
    wanted.push_back(batch.targets);
  }
  const std::vector<Tensor> scores{concat(linear, 0), concat(attention, 0)};
  const Tensor targets = concat(wanted, 0);
  double least = std::numeric_limits<double>::infinity();
  Tensor best;
  for (double a = 0; a <= 1.5; a += 0.125) {
    for (double b = 0; b <= 1.5; b += 0.125) {
      const double surprise = mean_surprise(scores, {a, b}, targets);
      if (surprise >= least) continue;
      least = surprise;
      best = Tensor::of({2}, {static_cast<float>(a), static_cast<float>(b)});
    }
  }
  parts_ = best;
}

}  // namespace fovea
