// One label for a text by capsules over recurrent states, one for each class: Wang, Sun, Han, Zhu,
// "Sentiment Analysis by Capsules", 2018. Equations and loss: attention/query/capsule.h.
#pragma once

#include "fovea/attention/query/capsule.h"
#include "fovea/model/model.h"
#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent/encoder.h"

namespace fovea {

class CapsuleClassifier : public Scorer {
 public:
  CapsuleClassifier(Scope s, const ModelSizes& sizes, const RecurrentModelOptions& options,
                    const AttentionOptions& attention);

  // Scores are the logarithms of the capsules' probabilities.
  Output operator()(const ModelInputs& in) const override;
  // The paper's joint loss; label smoothing has no place in it.
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 private:
  Capsules::Output look(const ModelInputs& in) const;

  RecurrentEncoder encoder_;
  Capsules capsules_;
};

}  // namespace fovea
