#include "fovea/model/seq2seq/recurrent_decoder.h"

#include "fovea/nn/step_ids.h"
#include "fovea/op/elementwise.h"

namespace fovea {

RecurrentDecoder::RecurrentDecoder(Scope s, int64_t vocabulary, int64_t features,
                                   const RecurrentDecoderOptions& o,
                                   const AttentionOptions& attention, int64_t letters)
    : options_(o),
      embedding_(s / "embedding", vocabulary, o.embed),
      layers_(s / "layers", o.embed + (o.input_feeding ? o.width : 0), o.width,
              {.cell = cell_of(o), .layers = static_cast<int>(o.layers), .dropout = o.dropout}),
      combine_(s / "combine",
               o.width + (letters > 0                 ? 2 * o.width
                          : fovea::attends(attention) ? o.width
                                                      : features),
               o.width),
      output_(s / "output", o.width, vocabulary) {
  if (fovea::attends(attention) || letters > 0) {
    if (features != o.width) memory_.emplace(s / "memory", features, o.width);
  }
  if (letters > 0) {
    if (letters != o.width) letters_.emplace(s / "letters", letters, o.width);
    via_.emplace(s / "attention", o.width, o.width, o.width, feature_options(attention));
  } else if (fovea::attends(attention)) {
    attention_.emplace(s / "attention", attention, o.width, o.width);
  }
  const int64_t states = o.layers * (o.cell == "lstm" ? 2 : 1);
  for (int64_t i = 0; i < states; ++i) bridge_.emplace_back(s / "bridge" / i, features, o.width);
}

RecurrentStates RecurrentDecoder::first_states(const Memory& memory) const {
  const auto n = memory.beginnings.size();
  check(n == 1 || n == bridge_.size(), "decoder: a memory begins one state or all ", bridge_.size(),
        ", got ", n);
  const auto layers = static_cast<size_t>(options_.layers);
  RecurrentStates start(layers);
  for (size_t i = 0; i < bridge_.size(); ++i) {
    const Tensor first = bridge_[i](memory.beginnings[n == 1 ? 0 : i]);
    if (i < layers) {
      start[i].h = tanh(first);
    } else {
      start[i - layers].c = first;
    }
  }
  return start;
}

Memory RecurrentDecoder::projected(const Memory& memory) const {
  Memory to = memory;
  if (memory_) to.states = (*memory_)(memory.states);
  if (letters_) to.letters = (*letters_)(memory.letters);
  return to;
}

RecurrentDecoder::Looked RecurrentDecoder::look(const Tensor& q, const Memory& memory,
                                                int64_t step) const {
  if (via_) {
    const auto out =
        (*via_)(q, {memory.states, memory.lengths}, {memory.letters, memory.letter_lengths}, step);
    return {concat({out.words, out.letters}, -1), out.log_probability};
  }
  const auto out =
      (*attention_)({.q = q, .memory = memory.states, .lengths = memory.lengths, .step = step});
  return {out.context, out.log_probability};
}

Tensor RecurrentDecoder::combine(const Tensor& context, const Tensor& state) const {
  return dropout(tanh(combine_(concat({context, state}, -1))), options_.dropout);
}

Decoder::Taught RecurrentDecoder::teach(const Memory& given, const Sequences& target) const {
  const Memory memory = projected(given);
  if (options_.input_feeding) return teach_fed(memory, target);
  const Tensor x = dropout(embedding_(target.ids), options_.dropout);
  const Tensor states =
      layers_({.x = x, .offsets = target.offsets, .start = first_states(memory)}).y;
  if (!attends()) {
    const Tensor context = embedding(memory.beginnings[0], target.owners());
    return {output_(combine(context, states))};
  }
  const Looked out = look(unpack(states, target.offsets, target.longest), memory, -1);
  return {output_(combine(pack(out.context, target.offsets), states)),
          out.log_probability.empty() ? Tensor() : pack(out.log_probability, target.offsets)};
}

// One step of every answer after the other, as each needs the output of the one before.
class RecurrentDecoding : public Decoder::Decoding {
 public:
  // The memory's states are as wide as the decoder already.
  RecurrentDecoding(const RecurrentDecoder& model, Memory memory, int64_t beam)
      : model_(model), memory_(std::move(memory)), beam_(beam) {
    state_ = model.first_states(memory_);
    if (!model.attends()) summary_ = memory_.beginnings[0];
    if (beam > 1) {
      std::vector<int32_t> rows;
      for (int64_t i = 0; i < B() * beam; ++i) rows.push_back(static_cast<int32_t>(i / beam));
      const Tensor copies = Tensor::of({B() * beam}, rows);
      pick(copies);
      if (!summary_.empty()) summary_ = embedding(summary_, copies);
    }
  }

  Tensor step(const Tensor& ids) override { return model_.output_(output_of(ids)); }
  void select(const Tensor& rows) override { pick(rows); }

  // What the output layer takes: [B beam, width].
  Tensor output_of(const Tensor& ids) {
    const auto& o = model_.options_;
    Tensor x = dropout(model_.embedding_(ids), o.dropout);
    if (o.input_feeding) {
      if (fed_.empty()) fed_ = Tensor::zeros({ids.dim(0), o.width}, x.dtype());
      x = concat({x, fed_}, -1);
    }
    const Tensor s = model_.layers_.step(x, state_);
    Tensor context = summary_;
    if (model_.attends()) {
      const auto out = model_.look(reshape(s, {B(), beam_, s.dim(1)}), memory_, t_);
      context = reshape(out.context, {B() * beam_, out.context.dim(2)});
      log_probability = out.log_probability;
    }
    ++t_;
    const Tensor combined = model_.combine(context, s);
    if (o.input_feeding) fed_ = combined;
    return combined;
  }

  Tensor log_probability;  // of the last step, [B, beam]

 private:
  int64_t B() const { return memory_.count(); }
  void pick(const Tensor& rows) {
    for (RecurrentState& s : state_) {
      s.h = embedding(s.h, rows);
      if (!s.c.empty()) s.c = embedding(s.c, rows);
    }
    if (!fed_.empty()) fed_ = embedding(fed_, rows);
  }

  const RecurrentDecoder& model_;
  Memory memory_;
  int64_t beam_, t_ = 0;
  RecurrentStates state_;
  Tensor summary_, fed_;
};

Decoder::Taught RecurrentDecoder::teach_fed(const Memory& memory, const Sequences& target) const {
  RecurrentDecoding decoding(*this, memory, 1);
  std::vector<Tensor> outputs, log_probabilities;
  for (int64_t t = 0; t < target.longest; ++t) {
    outputs.push_back(decoding.output_of(ids_at(target, t)));
    if (!decoding.log_probability.empty()) log_probabilities.push_back(decoding.log_probability);
  }
  const Tensor rows = pack(stack(outputs, 1), target.offsets);
  Taught taught{output_(rows)};
  if (!log_probabilities.empty()) {
    taught.log_probability = pack(concat(log_probabilities, 1), target.offsets);
  }
  return taught;
}

std::unique_ptr<Decoder::Decoding> RecurrentDecoder::start(const Memory& memory,
                                                           int64_t beam) const {
  return std::make_unique<RecurrentDecoding>(*this, projected(memory), beam);
}

}  // namespace fovea
