#include "fovea/model/transformer/translator.h"

namespace fovea {

using Kind = TransformerBlock::Kind;

TransformerDecoder::TransformerDecoder(Scope s, int64_t vocabulary,
                                       const TransformerOptions& options, const Embedding* shared,
                                       int64_t d_memory)
    : stack_(s / "decoder", vocabulary, options, Kind::cross_decoder, shared, d_memory) {
  if (!options.tied) {
    output_.emplace(s / "output", options.width, vocabulary, LinearOptions{.bias = false});
  }
}

Tensor TransformerDecoder::scores(const Tensor& rows) const {
  return output_ ? (*output_)(rows) : stack_.scores(rows);
}

Decoder::Taught TransformerDecoder::teach(const Memory& memory, const Sequences& target) const {
  return {scores(stack_(target, {}, memory))};
}

int64_t TransformerDecoder::longest() const {
  return stack_.options.knows_places() ? stack_.options.longest : Decoder::longest();
}

class TransformerDecoding : public Decoder::Decoding {
 public:
  TransformerDecoding(const TransformerDecoder& decoder, const Memory& memory)
      : decoder_(decoder), state_(decoder.stack_.start(memory)) {}

  Tensor step(const Tensor& ids) override {
    return decoder_.scores(decoder_.stack_.step(ids, state_));
  }
  void select(const Tensor& rows) override { decoder_.stack_.select(state_, rows); }

 private:
  const TransformerDecoder& decoder_;
  TransformerStack::State state_;
};

// The beam is what the first step's ids say: self-attention starts with nothing kept.
std::unique_ptr<Decoder::Decoding> TransformerDecoder::start(const Memory& memory, int64_t) const {
  return std::make_unique<TransformerDecoding>(*this, memory);
}

TransformerTranslator::TransformerTranslator(Scope s, const ModelSizes& sizes,
                                             const TransformerOptions& options)
    : encoder_(s / "encoder", sizes.vocabulary, options, Kind::encoder),
      decoder_(s, sizes.target_vocabulary, options,
               options.shared ? &encoder_.embedding : nullptr) {}

Memory TransformerTranslator::encode(const ModelInputs& in) const {
  const RowLayout layout(in.text);
  return {
      .states = layout.pad(encoder_(in.text)), .lengths = in.text.lengths(), .who = layout.keys};
}

}  // namespace fovea
