#include "fovea/model/recurrent/encoder.h"

namespace fovea {

const Fields<RecurrentModelOptions>& recurrent_fields() {
  using O = RecurrentModelOptions;
  static const Fields<O> fields(
      layer_fields<O>(),
      {{"cell", &O::cell, "kind of recurrent unit", one_of({"rnn", "gru", "lstm"})},
       {"embed", &O::embed, "features of a token", whole_from(1, 65536)},
       {"bidirectional", &O::bidirectional, "encode in both directions"},
       {"word_dropout", &O::word_dropout, "part of the tokens dropped while training",
        part_of_one()},
       {"vectors", &O::vectors, "word vectors to begin with: a file as word2vec and GloVe have"},
       {"tune_vectors", &O::tune_vectors, "go on learning the word vectors"}});
  return fields;
}

Cell cell_of(const RecurrentModelOptions& o) {
  const std::vector<std::string> names{"rnn", "gru", "lstm"};
  const Cell cells[] = {Cell::rnn, Cell::gru, Cell::lstm};
  const auto found = std::ranges::find(names, o.cell);
  check(found != names.end(), unknown_name("cell", o.cell, names));
  return cells[found - names.begin()];
}

}  // namespace fovea
