// A label for every token: recurrent states, with or without attention over them, and with features
// of each word's letters beside its embedding (spelling.h).
//   y_t = W [h_t; c_t] + b,   c_t = attend(h_t, h_1 .. h_T)
#pragma once

#include <optional>

#include "fovea/model/model.h"
#include "fovea/model/named_attention.h"
#include "fovea/model/recurrent/encoder.h"
#include "fovea/model/spelling.h"
#include "fovea/model/tagger.h"
#include "fovea/nn/linear.h"

namespace fovea {

class RecurrentTagger : public Tagger {
 public:
  RecurrentTagger(Scope s, const ModelSizes& sizes, const RecurrentModelOptions& options,
                  const AttentionOptions& attention, const SpellingOptions& spelling,
                  const TagOutputOptions& output);

  Output operator()(const ModelInputs& in) const override;

 private:
  std::optional<Spelling> spelling_;
  RecurrentEncoder encoder_;
  std::optional<NamedAttention> attention_;
  Linear output_;
};

}  // namespace fovea
