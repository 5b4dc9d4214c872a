// What memories are compared with: recurrent layers and a causal Transformer over the same steps.
#pragma once

#include "fovea/model/machine/controller.h"
#include "fovea/model/recurrent/encoder.h"
#include "fovea/model/transformer/stack.h"

namespace fovea {

struct StepRecurrentOptions {
  std::string cell = "lstm";  // rnn, gru, lstm
  int64_t layers = 1;         // one above the other
  int64_t width = 256;        // units of a layer
  double dropout = 0;         // between layers
};
// As options of a run.
const Fields<StepRecurrentOptions>& step_recurrent_fields();

// Recurrent layers from the first step to the last.
class StepRecurrent : public Scorer {
 public:
  StepRecurrent(Scope s, const ModelSizes& sizes, const StepRecurrentOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  int64_t inputs_;
  Recurrent layers_;
  StepOutput output_;
};

// Causal blocks: a step looks at itself and those before it.
class StepTransformer : public Scorer {
 public:
  StepTransformer(Scope s, const ModelSizes& sizes, const TransformerOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  int64_t inputs_;
  Linear in_;
  TransformerStack stack_;
  Linear output_;
};

}  // namespace fovea
