#include "fovea/model/recurrent/encoder.h"

namespace fovea {

const Fields<RecurrentModelOptions>& recurrent_fields() {
  using O = RecurrentModelOptions;
  static const Fields<O> fields = [] {
    std::vector<Fields<O>::Field> first = layer_fields<O>();
    first.push_back({"cell", &O::cell, "kind of recurrent unit", one_of({"rnn", "gru", "lstm"})});
    first.push_back({"embed", &O::embed, "features of a token", whole_from(1, 65536)});
    first.push_back({"bidirectional", &O::bidirectional, "encode in both directions"});
    first.push_back({"word_dropout", &O::word_dropout, "part of the tokens dropped while training",
                     part_of_one()});
    const Fields<O> words(word_fields(), {});
    first.insert(first.end(), words.list().begin(), words.list().end());
    return Fields<O>(std::move(first), {});
  }();
  return fields;
}

std::vector<Tensor> RecurrentEncoder::ends(const RecurrentStates& last) const {
  std::vector<Tensor> all;
  const int64_t directions = layers.directions();
  for (const bool cells : {false, true}) {
    if (cells && options.cell != "lstm") break;
    for (int64_t layer = 0; layer < options.layers; ++layer) {
      std::vector<Tensor> sides;
      for (int64_t side = 0; side < directions; ++side) {
        const RecurrentState& state = last[static_cast<size_t>(directions * layer + side)];
        sides.push_back(cells ? state.c : state.h);
      }
      all.push_back(sides.size() == 1 ? sides[0] : concat(sides, -1));
    }
  }
  return all;
}

Cell cell_named(const std::string& name) {
  const std::vector<std::string> names{"rnn", "gru", "lstm"};
  const Cell cells[] = {Cell::rnn, Cell::gru, Cell::lstm};
  const auto found = std::ranges::find(names, name);
  check(found != names.end(), unknown_name("cell", name, names));
  return cells[found - names.begin()];
}

}  // namespace fovea
