// One label for two texts, or for a phrase and its sentence: recurrent states of both, each made
// one vector by a mechanism of the catalogue that reads two inputs, or without attention between
// them, each by attention of its own (siamese).
//   two texts (Conneau et al. 2017):     y = W tanh(V [c_1; c_2; |c_1 - c_2|; c_1 o c_2])
//   a phrase in its sentence (Ma et al. 2017):   y = W [c_1; c_2] + b
// Numbers beside a text (ModelInputs::numbers) are rows in the place of the second text.
// Where a mechanism gives more than two contexts, as multi-grained attention does, they are pairs
// of one of each text, and all of them go on.
#pragma once

#include <optional>

#include "fovea/attention/catalog.h"
#include "fovea/model/model.h"
#include "fovea/model/pair/inputs.h"
#include "fovea/nn/linear.h"

namespace fovea {

class PairClassifier : public Scorer {
 public:
  // `mechanism`: an entry of the catalogue's features with two inputs, or siamese.
  PairClassifier(Scope s, Takes takes, const std::string& mechanism, const ModelSizes& sizes,
                 const PairOptions& options, const AttentionOptions& attention);

  Output operator()(const ModelInputs& in) const override;

 private:
  Takes takes_;
  PairOptions options_;
  TextEncoder encoder_;
  std::optional<RecordRows> record_;  // in the place of the second text
  FeatureMechanism attention_;
  std::optional<Linear> hidden_;
  Linear output_;
};

}  // namespace fovea
