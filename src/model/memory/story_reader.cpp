#include "fovea/model/memory/story_reader.h"

namespace fovea {

const Fields<RecurrentModelOptions>& story_reader_fields() {
  using O = RecurrentModelOptions;
  static const Fields<O> fields(
      layer_fields<O>(),
      {{"cell", &O::cell, "kind of recurrent unit", one_of({"rnn", "gru", "lstm"})},
       {"embed", &O::embed, "features of a token", whole_from(1, 65536)}});
  return fields;
}

StoryReader::StoryReader(Scope s, const ModelSizes& sizes, const RecurrentModelOptions& o)
    : options_(o),
      words_(s / "words", sizes, o.embed, 0, 0.1, fixed_rows(s, sizes, o.embed)),
      layers_(s / "layers", o.embed, o.width,
              {.cell = cell_of(o), .layers = static_cast<int>(o.layers), .dropout = o.dropout}),
      answers_(s / "answers", sizes, o.width, 0, 0.1, fixed_rows(s / "answers", sizes, o.width)) {}

Scorer::Output StoryReader::operator()(const ModelInputs& in) const {
  const Sequences all = sequences_of(read_through(in));
  const Tensor x = dropout(words_.rows(all.ids), options_.dropout);
  const Tensor h = layers_({.x = x, .offsets = all.offsets}).last.back().h;
  return {candidate_scores(answers_, dropout(h, options_.dropout), in.candidates)};
}

}  // namespace fovea
