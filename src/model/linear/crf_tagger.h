// A label for every token by a conditional random field whose scores are linear in features of the
// words around it (Lafferty, McCallum, Pereira 2001; Sha, Pereira 2003).
//   p(y) ~ exp(sum_t w_(y_t) . x_t + A[y_(t-1), y_t])
// Fitted a sentence at a time, with a rate of its own for each weight that falls as it is used
// (Duchi, Hazan, Singer 2011), as long as validation gets better.
#pragma once

#include "fovea/model/tagger.h"

namespace fovea {

struct CrfOptions {
  int64_t feature_least = 2;  // features of fewer sentences are left out
  int64_t rounds = 20;        // through the data, at most
};
// As options of a run.
const Fields<CrfOptions>& crf_fields();

// The field with its weights; fitted, never trained by steps.
class CrfTagger : public Tagger, public Fitted {
 public:
  CrfTagger(Scope s, const ModelSizes& sizes, const CrfOptions& options);

  // Reads ModelInputs::sparse, a row for each token, and text for the sentences.
  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;
  bool refit(const Examples& all, const FitChoice& choice) const override;

 private:
  CrfOptions options_;
  Parameter weight_, bias_;  // [features, labels], [labels]
};

// The label that each word has most often; of a word never seen the most frequent of all.
class MostFrequentTag : public Scorer, public Fitted {
 public:
  MostFrequentTag(Scope s, const ModelSizes& sizes)
      : count_(s.param("log_count", {sizes.vocabulary, sizes.labels}, init::zeros())) {}

  Output operator()(const ModelInputs& in) const override;
  FitChoice fit(const Examples& train, const Examples& dev, const FitLimits& limits) const override;
  bool refit(const Examples& all, const FitChoice&) const override {
    fit(all, all, {});
    return true;
  }

 private:
  Parameter count_;
};

}  // namespace fovea
