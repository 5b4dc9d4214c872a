// One label for a phrase in its sentence: recurrent states under rotatory attention (Zheng, Xia
// 2018).
//   y = W [r^l; r^r; r^lt; r^rt] + b
#pragma once

#include "fovea/attention/catalog.h"
#include "fovea/attention/feature/rotatory.h"
#include "fovea/model/model.h"
#include "fovea/model/pair/inputs.h"
#include "fovea/nn/linear.h"

namespace fovea {

class RotatoryClassifier : public Scorer {
 public:
  RotatoryClassifier(Scope s, const ModelSizes& sizes, const PairOptions& options,
                     const AttentionOptions& attention);

  Output operator()(const ModelInputs& in) const override;

 private:
  PairOptions options_;
  TextEncoder encoder_;
  RotatoryAttention attention_;
  Linear output_;
};

}  // namespace fovea
