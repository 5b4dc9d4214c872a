// What readers begin with: the words of passage and question as features, embeddings and where they
// are asked for what their letters make (spelling.h).
#pragma once

#include <functional>
#include <optional>

#include "fovea/model/inputs.h"
#include "fovea/model/recurrent/encoder.h"
#include "fovea/model/spelling.h"

namespace fovea {

struct ReaderOptions : RecurrentModelOptions, SpellingOptions {
  ReaderOptions() { letters = 0; }
};
// All of them, as options of a run.
const Fields<ReaderOptions>& reader_fields();

// The embeddings, and what reads the letters, with their weights.
struct ReaderWords {
  // Paths: embedding/weight, and those of Spelling.
  ReaderWords(Scope s, const ModelSizes& sizes, const ReaderOptions& options);

  // What a call gives.
  struct Output {
    Tensor passage, question;  // [rows, features()], packed as the inputs are
  };
  // `layer` is what each word goes through by itself. A word that comes often is worked out once,
  // as passages repeat their words.
  Output operator()(const ModelInputs& in,
                    const std::function<Tensor(const Tensor&)>& layer = {}) const;

  int64_t features() const { return options.embed + options.letters; }  // of a word

  ReaderOptions options;             // as it was made
  Embedding embedding;               // [vocabulary, embed]
  std::optional<Spelling> spelling;  // where letters are asked for
};

// Recurrent layers over passages, with what options say.
Recurrent reader_layers(Scope s, int64_t in, const ReaderOptions& options);
// What the last layer held after its last step, both directions side by side: [B, features].
Tensor last_states(const RecurrentStates& last, bool bidirectional);

}  // namespace fovea
