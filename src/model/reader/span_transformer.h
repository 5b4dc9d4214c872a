// A Transformer encoder over question and passage as one sequence: Devlin, Chang, Lee, Toutanova,
// "BERT", 2018 (section 4.2).
//   h = transformer([begin; question; end; passage]) with an embedding for each side
//   start = softmax(w_1 . h_t),   end = softmax(w_2 . h_t)   over the passage;
// that there is no answer is read off the state of `begin`.
#pragma once

#include "fovea/model/reader/span_reader.h"
#include "fovea/model/spelling.h"
#include "fovea/model/transformer/stack.h"

namespace fovea {

class SpanTransformer : public SpanReader {
 public:
  SpanTransformer(Scope s, const ModelSizes& sizes, const TransformerOptions& options,
                  const SpellingOptions& spelling);
  Output operator()(const ModelInputs& in) const override;

  // Ids that stand before question and passage, as every tokenizer has them.
  static constexpr int32_t begin = 2, end = 3;

 private:
  TransformerStack encoder_;
  Embedding sides_;  // of question and passage
  std::optional<Spelling> spelling_;
  std::optional<Linear> spelled_;
  Linear output_;
  bool nothing_;
};

}  // namespace fovea
