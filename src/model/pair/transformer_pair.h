// Two texts through one Transformer encoder, each by itself, as the Long Range Arena compares
// documents (Tay et al. 2021; Reimers, Gurevych, "Sentence-BERT", 2019):
//   a = mean(encoder(first)),  b = mean(encoder(second)),  y = W relu(V [a; b; |a - b|; a b] + c) +
//   d
#pragma once

#include "fovea/model/model.h"
#include "fovea/model/transformer/stack.h"
#include "fovea/nn/linear.h"

namespace fovea {

class TransformerPair : public Scorer {
 public:
  // Paths: encoder/..., hidden, output.
  TransformerPair(Scope s, const ModelSizes& sizes, const TransformerOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  TransformerStack encoder_, second_;  // the same parameters, other names of maps
  Linear hidden_, output_;
};

}  // namespace fovea
