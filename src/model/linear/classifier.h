// One label for a text by a weighted vote of its features: a linear support vector machine for each
// label against all others (Joachims 1998; Wang, Manning 2012 show how hard it is to beat).
//   s_c = w_c . (r_c x) + b_c,   p = softmax(s)
// where r_c is what counting alone says of each feature (Wang and Manning's NBSVM).
// How much errors cost beside large weights, and how sure the scores are (Platt 1999; Guo et al.
// 2017: one temperature), is chosen on the validation examples.
#pragma once

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/scope.h"

namespace fovea {

struct LinearModelOptions {
  // Features are groups of 1 to ngram_words words and of 2 to ngram_letters letters (0: none; -1:
  // 5, or none where texts have many letters), but not those of fewer than ngram_least texts.
  int64_t ngram_words = 2, ngram_letters = -1, ngram_least = 2;
  double cost = 0;  // 0: chosen on validation
};
// As options of a run.
const Fields<LinearModelOptions>& linear_model_fields();

// The machines of all labels side by side; fitted, never trained by steps.
class LinearClassifier : public Scorer, public Fitted {
 public:
  LinearClassifier(Scope s, const ModelSizes& sizes, const LinearModelOptions& options);

  // Reads ModelInputs::sparse.
  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;
  bool refit(const Examples& all, const FitChoice& choice) const override;
  // What a feature of value 1 adds to the score of a label, beside what it adds to all on the mean.
  double vote(int32_t feature, int32_t label) const;

 private:
  // Weights and biases for each cost, as many as were found within the limits; at least the first.
  struct Machines {
    std::vector<Tensor> weights, biases;
  };
  Machines machines(const Examples& train, const std::vector<double>& costs,
                    const FitLimits& limits) const;
  // The scores times `factor` are as sure as they should be.
  void take(Tensor weight, Tensor bias, double factor) const;

  double cost_;
  Parameter weight_, bias_;  // [features, labels], [labels]
};

// The label that comes most often, whatever is asked.
class MostFrequentLabel : public Scorer, public Fitted {
 public:
  MostFrequentLabel(Scope s, const ModelSizes& sizes)
      : frequency_(s.param("log_frequency", {sizes.labels}, init::constant(0))) {}

  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;
  bool refit(const Examples& all, const FitChoice&) const override {
    fit(all, all, {});
    return true;
  }

 private:
  Parameter frequency_;
};

}  // namespace fovea
