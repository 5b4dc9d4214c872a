// The Transformer as it was first told: an encoder, and a decoder that looks at it. The decoder
// takes any memory.
#pragma once

#include "fovea/model/seq2seq/translator.h"
#include "fovea/model/transformer/stack.h"
#include "fovea/nn/linear.h"

namespace fovea {

class TransformerDecoder : public Decoder {
 public:
  // Paths: decoder/..., and unless tied output/weight. `shared`: an embedding of another part.
  TransformerDecoder(Scope s, int64_t vocabulary, const TransformerOptions& options,
                     const Embedding* shared = nullptr, int64_t d_memory = 0);

  Taught teach(const Memory& memory, const Sequences& target) const override;
  // The memory's keys and values are made once for each layer, for all of its answers; a step adds
  // its own keys and values to those kept.
  std::unique_ptr<Decoding> start(const Memory& memory, int64_t beam) const override;
  // As many as there are learned positions; any number where none are learned.
  int64_t longest() const override;

 private:
  friend class TransformerDecoding;
  Tensor scores(const Tensor& rows) const;

  TransformerStack stack_;
  std::optional<Linear> output_;
};

// The model: both halves.
class TransformerTranslator : public Translator {
 public:
  // Paths: encoder/..., and those of the decoder. Shared embeddings are encoder/embedding/weight.
  TransformerTranslator(Scope s, const ModelSizes& sizes, const TransformerOptions& options);

  // The encoder's states, padded, and a pattern that leaves the padding out.
  Memory encode(const ModelInputs& in) const override;
  const Decoder& decoder() const override { return decoder_; }  // a TransformerDecoder

 private:
  TransformerStack encoder_;
  TransformerDecoder decoder_;
};

}  // namespace fovea
