// What memories are compared with: a Transformer encoder over story and question as one sequence
// (Vaswani et al. 2017; in the manner of Devlin et al. 2019).
//   x = words + place + (story or question),   y = W mean(encoder(x) at the question)
// A mark stands behind each sentence. Of a longer story the newest tokens are read.
#pragma once

#include "fovea/model/memory/stories.h"
#include "fovea/model/transformer/stack.h"

namespace fovea {

// The network with its weights; it scores the candidates for an answer.
class StoryTransformer : public Scorer {
 public:
  // Reads at most options.longest tokens.
  StoryTransformer(Scope s, const ModelSizes& sizes, const TransformerOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  WordTable words_;
  Parameter parts_;  // [2, width]: what is added to words of the story, of the question
  TransformerStack encoder_;
  WordTable answers_;
  int32_t mark_;  // behind a sentence, in `words_`
};

}  // namespace fovea
