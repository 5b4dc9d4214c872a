// The Transformer as it was first told: an encoder, and a decoder that looks at it.
#pragma once

#include "fovea/model/transformer_stack.h"
#include "fovea/model/translator.h"
#include "fovea/nn/linear.h"

namespace fovea {

class TransformerTranslator : public Translator {
 public:
  // Paths: encoder/..., decoder/..., and unless tied output/weight. Shared embeddings are
  // encoder/embedding/weight.
  TransformerTranslator(Parameters& table, int64_t source_vocabulary, int64_t target_vocabulary,
                        const TransformerOptions& options);

  Taught teach(const Sequences& source, const Sequences& target, Random* random) const override;
  // The source is encoded once and its keys and values are made once for each layer, for all of a
  // source's answers; a step adds its own keys and values to those kept.
  std::unique_ptr<Decoding> start(const Sequences& source, int64_t beam) const override;

 private:
  friend class TransformerDecoding;
  TransformerBlock::Memory encode(const Sequences& source, Random* random) const;
  Tensor scores(const Tensor& rows) const;

  TransformerEncoder encoder_;
  TransformerStack decoder_;
  std::optional<Linear> output_;
};

}  // namespace fovea
