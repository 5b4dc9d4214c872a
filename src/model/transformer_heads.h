// What a Transformer encoder is used for: a label for every token, one for a sequence, and masked
// tokens (Devlin et al., "BERT", 2018). All three keep the encoder under the same paths
// ("encoder/..."), so that the weights of one can start another.
#pragma once

#include "fovea/model/classifier.h"
#include "fovea/model/tagger.h"
#include "fovea/model/transformer_stack.h"

namespace fovea {

struct TransformerTagger {
  // letters: features made of a word's letters, as in Tagger; 0: none.
  TransformerTagger(Parameters& table, int64_t vocabulary, int64_t alphabet, int64_t labels,
                    const TransformerOptions& options, int64_t letters = 64);

  // Scores [rows, labels]; letters as in Tagger.
  Tensor operator()(const Sequences& words, const Tensor& letters, Random* random) const;

  TransformerEncoder encoder;
  std::optional<Embedding> alphabet;
  std::optional<Conv1d> spelling;
  std::optional<Linear> spelled;  // from the letters' features to the width of the encoder
  Linear output;
};

struct TransformerClassifier {
  // summary: mean of the states, or first, the state of the first token.
  TransformerClassifier(Parameters& table, int64_t vocabulary, int64_t labels,
                        const TransformerOptions& options, std::string summary = "mean");

  Classifier::Output operator()(const Sequences& tokens, Random* random) const;

  std::string summary;
  TransformerEncoder encoder;
  Linear output;
};

struct MaskedLanguageModel {
  // Paths beside the encoder's: dense, norm, output/bias, and unless tied output/weight.
  MaskedLanguageModel(Parameters& table, int64_t vocabulary, const TransformerOptions& options);

  // Scores of every token [n, vocabulary] for the rows asked for (int32 [n]); empty: all rows.
  Tensor operator()(const Sequences& tokens, const Tensor& rows, Random* random) const;

  TransformerEncoder encoder;
  Linear dense;
  LayerNorm norm;
  const Tensor& output_weight;  // [vocabulary, width]; tied: the embedding
  const Tensor& output_bias;    // [vocabulary]
};

}  // namespace fovea
