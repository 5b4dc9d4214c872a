#include "fovea/model/seq2seq/via_translator.h"

namespace fovea {

const Fields<ViaOptions>& via_fields() {
  using O = ViaOptions;
  static const Fields<O> fields(
      recurrent_fields(),
      {{"input_feeding", &O::input_feeding, "the decoder sees its last output"},
       {"letter_embed", &O::letter_embed, "features of a letter", whole_from(1, 65536)},
       {"letter_width", &O::letter_width, "units of the layer that reads letters",
        whole_from(1, 65536)}});
  return fields;
}

ViaTranslator::ViaTranslator(Scope s, const ModelSizes& sizes, const ViaOptions& o,
                             const AttentionOptions& attention)
    : options_(o),
      alphabet_(s / "alphabet", sizes.alphabet, o.letter_embed),
      letters_(s / "letters", o.letter_embed, o.letter_width,
               {.cell = Cell::gru, .bidirectional = true}),
      encoder_(s / "encoder", sizes.vocabulary, o, 2 * o.letter_width),
      finer_letter_(s / "finer" / "letter", 2 * o.letter_width, o.width, {.bias = false}),
      finer_word_(s / "finer" / "word", encoder_.features(), o.width),
      decoder_(s / "decoder", sizes.target_vocabulary, encoder_.features(), o, attention, o.width) {
}

Memory ViaTranslator::encode(const ModelInputs& in) const {
  const Sequences& spelled = in.document.inner;
  check(in.text.rows() == spelled.count() && spelled.rows() > 0,
        "via: needs the letters of each word");
  const Tensor x = dropout(alphabet_(spelled.ids), options_.dropout);
  const auto read = letters_({.x = x, .offsets = spelled.offsets});
  const Tensor whole = concat({read.last[0].h, read.last[1].h}, -1);  // [words, 2 letter_width]
  const auto words = encoder_(in.text, whole);
  const Tensor finer =
      tanh(finer_letter_(read.y) + embedding(finer_word_(words.rows), spelled.owners()));
  // Letters of each text: as many as its words have together.
  const auto of_words = spelled.offsets.read<int32_t>(), of_texts = in.text.offsets.read<int32_t>();
  Tensor offsets({in.text.count() + 1}, Dtype::i32);
  std::ranges::transform(of_texts, offsets.write<int32_t>().begin(),
                         [&](int32_t word) { return of_words[static_cast<size_t>(word)]; });
  const Packing texts(offsets);
  Memory memory{.states = unpack(words.rows, in.text.offsets, in.text.longest),
                .lengths = in.text.lengths()};
  memory.letters = unpack(finer, texts.offsets, texts.longest);
  memory.letter_lengths = texts.lengths();
  memory.beginnings = encoder_.ends(words.last);
  return memory;
}

}  // namespace fovea
