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
  std::vector<std::vector<int32_t>> lists;
  const auto outer = in.story.outer.offsets.read<int32_t>(),
             inner = in.story.inner.offsets.read<int32_t>(),
             asked = in.question.offsets.read<int32_t>();
  for (int64_t b = 0; b < in.question.count(); ++b) {
    std::vector<int32_t> list;
    if (outer[b + 1] > outer[b]) {
      const auto ids = in.story.inner.ids.read<int32_t>();
      list.assign(ids.begin() + inner[outer[b]], ids.begin() + inner[outer[b + 1]]);
    }
    const auto ids = in.question.ids.read<int32_t>();
    list.insert(list.end(), ids.begin() + asked[b], ids.begin() + asked[b + 1]);
    lists.push_back(std::move(list));
  }
  const Sequences all = sequences_of(lists);
  const Tensor x = dropout(words_.rows(all.ids), options_.dropout);
  const Tensor h = layers_({.x = x, .offsets = all.offsets}).last.back().h;
  return {candidate_scores(answers_, dropout(h, options_.dropout), in.candidates)};
}

}  // namespace fovea
