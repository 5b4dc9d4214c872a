// One label for a text, a pair or a phrase: a linear model over n-grams beside one of attention
// (Cheng et al., "Wide & Deep Learning", 2016; Yang et al. 2016). The first knows every word that
// it saw a few times, the second what words do to each other.
//   s = a s_linear + b s_attention
// The linear part is fitted, then the attention is trained by steps; a and b make the validation
// examples likeliest, so that on data which the attention cannot learn from the linear part stays.
#pragma once

#include "fovea/model/linear/classifier.h"

namespace fovea {

class WideClassifier : public Scorer, public Fitted {
 public:
  // `attention` is made of the same Scope, or of one below it.
  WideClassifier(Scope s, const ModelSizes& sizes, const LinearModelOptions& linear,
                 std::unique_ptr<const Scorer> attention);

  Output operator()(const ModelInputs& in) const override;
  // Of the attention alone: it would have nothing to learn beside a linear model that knows all
  // examples already.
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;
  bool refit(const Examples& all, const FitChoice& choice) const override {
    return linear_.refit(all, choice);
  }
  bool goes_on() const override { return true; }
  void tune(const std::vector<Examples>& dev) const override;

 private:
  LinearClassifier linear_;
  std::unique_ptr<const Scorer> attention_;
  Parameter parts_;  // a, b
};

}  // namespace fovea
