// A decoder alone, that says which token comes next: Radford et al., "Improving Language
// Understanding by Generative Pre-Training", 2018. With pre-norm, learned positions, gelu_tanh and
// embeddings that are not scaled it is GPT-2.
#pragma once

#include "fovea/model/model.h"
#include "fovea/model/transformer/stack.h"
#include "fovea/nn/linear.h"

namespace fovea {

class TransformerLanguageModel : public LanguageModel {
 public:
  // Paths: decoder/..., and unless tied output/weight.
  TransformerLanguageModel(Scope s, const ModelSizes& sizes, const TransformerOptions& options);

  Tensor scores(const Sequences& ids) const override;
  // Keys and values are kept, so a token costs as much as it looks back.
  std::unique_ptr<Continuation> start() const override;
  // With learned positions as many as there are, else no limit.
  int64_t longest() const override;

 private:
  friend class TransformerContinuation;
  Tensor output(const Tensor& rows) const {
    return output_ ? (*output_)(rows) : decoder_.scores(rows);
  }

  TransformerStack decoder_;
  std::optional<Linear> output_;
};

}  // namespace fovea
