// One label for a text: recurrent states, pooled by attention whose query is a learned vector (Yang
// et al. 2016; Lin et al. 2017), or without attention by the last state, the mean or the maximum.
#pragma once

#include <optional>

#include "fovea/model/model.h"
#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent/encoder.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct RecurrentClassifierOptions : RecurrentModelOptions {
  std::string summary = "last";  // without attention: last, mean, max
};
// Those of every recurrent model, and the summary.
const Fields<RecurrentClassifierOptions>& recurrent_classifier_fields();

// The model; its states are pooled in one of these ways.
class RecurrentClassifier : public Scorer {
 public:
  RecurrentClassifier(Scope s, const ModelSizes& sizes, const RecurrentClassifierOptions& options,
                      const AttentionOptions& attention);

  Output operator()(const ModelInputs& in) const override;

 private:
  RecurrentClassifierOptions options_;
  RecurrentEncoder encoder_;
  Parameter query_;  // [features]
  std::optional<NamedAttention> attention_;
  Linear output_;
};

}  // namespace fovea
