#include "fovea/model/seq2seq/encoder_decoder.h"

namespace fovea {

const Fields<EncoderDecoderOptions>& encoder_decoder_fields() {
  using O = EncoderDecoderOptions;
  static const Fields<O> fields(
      recurrent_fields(), {{"input_feeding", &O::input_feeding, "the decoder sees its last output"},
                           {"summary", &O::summary, "without attention: what stands for the source",
                            one_of({"last", "activated", "mean"})}});
  return fields;
}

EncoderDecoder::EncoderDecoder(Scope s, const ModelSizes& sizes,
                               const EncoderDecoderOptions& options,
                               const AttentionOptions& attention)
    : options_(options),
      attends_(attends(attention)),
      encoder_(s / "encoder", sizes.vocabulary, options),
      decoder_(s / "decoder", sizes.target_vocabulary, encoder_.features(), options, attention) {
  if (!attends_ && options.summary != "last") {
    summarise_.emplace(s / "summary", encoder_.features(), encoder_.features());
  }
}

Memory EncoderDecoder::encode(const ModelInputs& in) const {
  const auto out = encoder_(in.text);
  Memory memory{.lengths = in.text.lengths()};
  if (!attends_) {
    Tensor c =
        options_.summary == "mean" ? mean_rows(out.rows, in.text) : encoder_.final_state(out.last);
    if (summarise_) c = tanh((*summarise_)(c));
    memory.beginnings = {c};
    return memory;
  }
  memory.states = unpack(out.rows, in.text.offsets, in.text.longest);
  // Each layer of the decoder begins with what that layer of the encoder ended with.
  memory.beginnings = encoder_.ends(out.last);
  return memory;
}

}  // namespace fovea
