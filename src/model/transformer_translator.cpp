#include "fovea/model/transformer_translator.h"

namespace fovea {

TransformerTranslator::TransformerTranslator(Parameters& table, int64_t source_vocabulary,
                                             int64_t target_vocabulary,
                                             const TransformerOptions& options)
    : encoder_(table, source_vocabulary, options),
      decoder_(table, "decoder", target_vocabulary, options, TransformerStack::Kind::cross_decoder,
               options.shared ? &encoder_.embedding : nullptr) {
  if (!options.tied) {
    output_.emplace(Scope(table) / "output", options.width, target_vocabulary,
                    LinearOptions{.bias = false});
  }
}

TransformerBlock::Memory TransformerTranslator::encode(const Sequences& source,
                                                       Random* random) const {
  const RowLayout layout(source);
  return {layout.pad(encoder_(source, random)), layout.lengths, layout.even};
}

Tensor TransformerTranslator::scores(const Tensor& rows) const {
  return output_ ? (*output_)(rows) : decoder_.scores(rows);
}

Translator::Taught TransformerTranslator::teach(const Sequences& source, const Sequences& target,
                                                Random* random) const {
  return {scores(decoder_(target, random, {}, encode(source, random))), {}};
}

class TransformerDecoding : public Translator::Decoding {
 public:
  TransformerDecoding(const TransformerTranslator& model, const Sequences& source)
      : model_(model), state_(model.decoder_.start(model.encode(source, nullptr))) {}

  Tensor step(const Tensor& ids) override {
    return model_.scores(model_.decoder_.step(ids, state_));
  }
  void select(const Tensor& rows) override { model_.decoder_.select(state_, rows); }

 private:
  const TransformerTranslator& model_;
  TransformerStack::State state_;
};

// The beam is what the first step's ids say: self-attention starts with nothing kept.
std::unique_ptr<Translator::Decoding> TransformerTranslator::start(const Sequences& source,
                                                                   int64_t) const {
  return std::make_unique<TransformerDecoding>(*this, source);
}

}  // namespace fovea
