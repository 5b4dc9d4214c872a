// What a Transformer encoder is used for: a label for every token, one for a text, and masked
// tokens (Devlin et al., "BERT", 2018). All three keep the encoder under the same paths
// ("encoder/..."), so that the weights of one can start another.
#pragma once

#include "fovea/model/model.h"
#include "fovea/model/spelling.h"
#include "fovea/model/tagger.h"
#include "fovea/model/transformer/stack.h"
#include "fovea/nn/linear.h"

namespace fovea {

class SequenceRing;

class TransformerTagger : public Tagger {
 public:
  TransformerTagger(Scope s, const ModelSizes& sizes, const TransformerOptions& options,
                    const SpellingOptions& spelling, const TagOutputOptions& output);
  Output operator()(const ModelInputs& in) const override;

 private:
  TransformerStack encoder_;
  std::optional<Spelling> spelling_;
  std::optional<Linear> spelled_;  // from the letters' features to the width of the encoder
  Linear output_;
};

// One label for a text.
class TransformerClassifier : public Scorer {
 public:
  // summary: mean of the states, or first, the state of the first token.
  TransformerClassifier(Scope s, const ModelSizes& sizes, const TransformerOptions& options,
                        std::string summary = "mean");
  Output operator()(const ModelInputs& in) const override;

 private:
  Tensor pooled_on(SequenceRing& ring, const Tensor& rows, const Sequences& text) const;

  std::string summary_;
  TransformerStack encoder_;
  Linear output_;
};

// Scores of every token for the rows asked for.
class MaskedLanguageModel : public Scorer {
 public:
  // Paths beside the encoder's: dense, norm, output/bias, and unless tied output/weight.
  MaskedLanguageModel(Scope s, const ModelSizes& sizes, const TransformerOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  TransformerStack encoder_;
  Linear dense_;
  LayerNorm norm_;
  Parameter output_weight_;  // [vocabulary, width]; tied: the embedding
  Parameter output_bias_;    // [vocabulary]
};

}  // namespace fovea
