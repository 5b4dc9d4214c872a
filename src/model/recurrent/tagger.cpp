#include "fovea/model/recurrent/tagger.h"

namespace fovea {

const Fields<SpellingOptions>& spelling_fields() {
  using O = SpellingOptions;
  static const Fields<O> fields{
      {"letters", &O::letters, "features made of a word's letters; 0: none", whole_from(0, 65536)}};
  return fields;
}

RecurrentTagger::RecurrentTagger(Scope s, const ModelSizes& sizes, const RecurrentModelOptions& o,
                                 const AttentionOptions& attention, const SpellingOptions& spelling,
                                 const TagOutputOptions& output)
    : Tagger(s / "output", sizes.labels, output),
      encoder_(s / "encoder", sizes.vocabulary, o, spelling.letters),
      output_(s / "output", encoder_.features() * (attends(attention) ? 2 : 1), sizes.labels) {
  if (spelling.letters > 0) spelling_.emplace(s, sizes.alphabet, spelling.letters);
  if (attends(attention)) {
    attention_.emplace(s / "attention", attention, encoder_.features(), encoder_.features());
  }
}

Scorer::Output RecurrentTagger::operator()(const ModelInputs& in) const {
  const Sequences& words = in.text;
  Tensor states = encoder_(words, spelling_ ? (*spelling_)(in.letters) : Tensor()).rows;
  Tensor log_probability;
  if (attention_) {
    const Tensor x = unpack(states, words.offsets, words.longest);
    const auto read = (*attention_)({.q = x, .memory = x, .lengths = words.lengths()});
    states = concat({states, pack(read.context, words.offsets)}, -1);
    if (!read.log_probability.empty()) log_probability = pack(read.log_probability, words.offsets);
  }
  return {output_(dropout(states, encoder_.options.dropout)), log_probability};
}

}  // namespace fovea
