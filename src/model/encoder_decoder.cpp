#include "fovea/model/encoder_decoder.h"

#include "fovea/op/elementwise.h"

namespace fovea {
namespace {

bool attends(const EncoderDecoderOptions& o) { return o.attention.score != "none"; }

Tensor dropped(const Tensor& x, const EncoderDecoderOptions& o, Random* random) {
  return maybe_dropout(x, o.recurrent.dropout, random);
}

}  // namespace

EncoderDecoder::EncoderDecoder(Scope s, int64_t source_vocabulary, int64_t target_vocabulary,
                               const EncoderDecoderOptions& options)
    : options_(options),
      encoder_(s / "encoder", source_vocabulary, options.recurrent),
      embedding_(s / "decoder" / "embedding", target_vocabulary, options.recurrent.embed),
      decoder_(s / "decoder" / "layers",
               options.recurrent.embed + (options.input_feeding ? options.recurrent.width : 0),
               options.recurrent.width,
               {.cell = options.recurrent.cell,
                .layers = static_cast<int>(options.recurrent.layers),
                .dropout = options.recurrent.dropout}),
      combine_(s / "decoder" / "combine",
               options.recurrent.width +
                   (attends(options) ? options.recurrent.width : encoder_.features()),
               options.recurrent.width),
      output_(s / "decoder" / "output", options.recurrent.width, target_vocabulary) {
  const int64_t width = options.recurrent.width, features = encoder_.features();
  if (attends(options)) {
    if (features != width) memory_.emplace(s / "memory", features, width);
    attention_.emplace(s / "attention", options.attention, width, width);
  } else {
    const std::vector<std::string> summaries{"last", "activated", "mean"};
    check(std::ranges::find(summaries, options.summary) != summaries.end(),
          unknown_name("summary", options.summary, summaries));
    if (options.summary != "last") summarise_.emplace(s / "summary", features, features);
  }
  const int64_t states = options.recurrent.layers * (options.recurrent.cell == Cell::lstm ? 2 : 1);
  for (int64_t i = 0; i < states; ++i) bridge_.emplace_back(s / "bridge" / i, features, width);
}

RecurrentStates EncoderDecoder::bridge(const RecurrentStates& last, const Tensor& summary) const {
  const bool lstm = options_.recurrent.cell == Cell::lstm;
  const int64_t layers = options_.recurrent.layers;
  auto both = [&](int64_t layer, auto part) {
    if (!options_.recurrent.bidirectional) return part(last[layer]);
    return concat({part(last[2 * layer]), part(last[2 * layer + 1])}, -1);
  };
  RecurrentStates start(layers);
  for (int64_t i = 0; i < layers; ++i) {
    const Tensor h =
        summary.empty() ? both(i, [](const RecurrentState& s) { return s.h; }) : summary;
    start[i].h = tanh(bridge_[i](h));
    if (!lstm) continue;
    const Tensor c =
        summary.empty() ? both(i, [](const RecurrentState& s) { return s.c; }) : summary;
    start[i].c = bridge_[layers + i](c);
  }
  return start;
}

EncoderDecoder::Encoded EncoderDecoder::encode(const Sequences& source, Random* random) const {
  const auto out = encoder_(source, random);
  Encoded e{.memory = {}, .lengths = source.lengths(), .summary = {}, .start = {}};
  if (attention_) {
    const Tensor rows = memory_ ? (*memory_)(out.rows) : out.rows;
    e.memory = unpack(rows, source.offsets, source.longest);
  } else {
    e.summary =
        options_.summary == "mean" ? mean_rows(out.rows, source) : encoder_.final_state(out.last);
    if (summarise_) e.summary = tanh((*summarise_)(e.summary));
  }
  e.start = bridge(out.last, e.summary);
  return e;
}

Tensor EncoderDecoder::combine(const Tensor& context, const Tensor& state, Random* random) const {
  return dropped(tanh(combine_(concat({context, state}, -1))), options_, random);
}

Translator::Taught EncoderDecoder::teach(const Sequences& source, const Sequences& target,
                                         Random* random) const {
  const Encoded e = encode(source, random);
  if (options_.input_feeding) return teach_fed(e, target, random);
  const Tensor x = dropped(embedding_(target.ids), options_, random);
  const Tensor states =
      decoder_({.x = x, .offsets = target.offsets, .start = e.start, .random = random}).y;
  if (!attention_) {
    const Tensor context = embedding(e.summary, target.owners());
    return {output_(combine(context, states, random)), {}};
  }
  const auto out = (*attention_)({.q = unpack(states, target.offsets, target.longest),
                                  .memory = e.memory,
                                  .lengths = e.lengths,
                                  .random = random});
  return {output_(combine(pack(out.context, target.offsets), states, random)),
          out.log_probability.empty() ? Tensor() : pack(out.log_probability, target.offsets)};
}

namespace {

// Column t of sequences that stand in rows, as the ids of one step: int32 [B]; past its end a
// sequence repeats its last id, and nobody looks at what comes of it.
Tensor ids_at(const Sequences& s, int64_t t) {
  Tensor ids({s.count()}, Dtype::i32);
  const auto offsets = s.offsets.read<int32_t>();
  const auto from = s.ids.read<int32_t>();
  auto to = ids.write<int32_t>();
  for (int64_t b = 0; b < s.count(); ++b) {
    to[b] = from[std::min<int64_t>(offsets[b] + t, offsets[b + 1] - 1)];
  }
  return ids;
}

}  // namespace

// One step of every answer after the other, as each needs the output of the one before.
class EncoderDecoderDecoding : public Translator::Decoding {
 public:
  EncoderDecoderDecoding(const EncoderDecoder& model, EncoderDecoder::Encoded e, int64_t beam,
                         Random* random)
      : model_(model), e_(std::move(e)), beam_(beam), random_(random), state_(e_.start) {
    if (beam > 1) {
      std::vector<int32_t> rows;
      for (int64_t i = 0; i < B() * beam; ++i) rows.push_back(static_cast<int32_t>(i / beam));
      const Tensor copies = Tensor::of({B() * beam}, rows);
      pick(copies);
      if (!e_.summary.empty()) e_.summary = embedding(e_.summary, copies);
    }
  }

  Tensor step(const Tensor& ids) override { return model_.output_(output_of(ids)); }
  void select(const Tensor& rows) override { pick(rows); }

  // What the output layer takes: [B beam, width].
  Tensor output_of(const Tensor& ids) {
    const auto& o = model_.options_;
    Tensor x = dropped(model_.embedding_(ids), o, random_);
    if (o.input_feeding) {
      if (fed_.empty()) fed_ = Tensor::zeros({ids.dim(0), o.recurrent.width}, x.dtype());
      x = concat({x, fed_}, -1);
    }
    const Tensor s = model_.decoder_.step(x, state_, random_);
    Tensor context = e_.summary;
    if (model_.attention_) {
      const auto out = (*model_.attention_)({.q = reshape(s, {B(), beam_, s.dim(1)}),
                                             .memory = e_.memory,
                                             .lengths = e_.lengths,
                                             .step = t_,
                                             .random = random_});
      context = reshape(out.context, {B() * beam_, out.context.dim(2)});
      log_probability = out.log_probability;
    }
    ++t_;
    const Tensor combined = model_.combine(context, s, random_);
    if (o.input_feeding) fed_ = combined;
    return combined;
  }

  Tensor log_probability;  // of the last step, [B, beam]

 private:
  int64_t B() const { return e_.lengths.dim(0); }
  void pick(const Tensor& rows) {
    for (RecurrentState& s : state_) {
      s.h = embedding(s.h, rows);
      if (!s.c.empty()) s.c = embedding(s.c, rows);
    }
    if (!fed_.empty()) fed_ = embedding(fed_, rows);
  }

  const EncoderDecoder& model_;
  EncoderDecoder::Encoded e_;
  int64_t beam_, t_ = 0;
  Random* random_;
  RecurrentStates state_;
  Tensor fed_;
};

Translator::Taught EncoderDecoder::teach_fed(const Encoded& e, const Sequences& target,
                                             Random* random) const {
  EncoderDecoderDecoding decoding(*this, e, 1, random);
  std::vector<Tensor> outputs, log_probabilities;
  for (int64_t t = 0; t < target.longest; ++t) {
    outputs.push_back(decoding.output_of(ids_at(target, t)));
    if (!decoding.log_probability.empty()) log_probabilities.push_back(decoding.log_probability);
  }
  const Tensor rows = pack(stack(outputs, 1), target.offsets);
  Taught taught{output_(rows), {}};
  if (!log_probabilities.empty()) {
    taught.log_probability = pack(concat(log_probabilities, 1), target.offsets);
  }
  return taught;
}

std::unique_ptr<Translator::Decoding> EncoderDecoder::start(const Sequences& source,
                                                            int64_t beam) const {
  return std::make_unique<EncoderDecoderDecoding>(*this, encode(source, nullptr), beam, nullptr);
}

}  // namespace fovea
