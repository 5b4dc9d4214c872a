#include "fovea/model/sight/caption_decoder.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/recorder.h"
#include "fovea/attention/score/map.h"
#include "fovea/nn/step_ids.h"
#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {

const Fields<CaptionDecoderOptions>& caption_decoder_fields() {
  using O = CaptionDecoderOptions;
  static const Fields<O> fields{
      {"embed", &O::embed, "features of a token", whole_from(1, 65536)},
      {"width", &O::width, "units of a layer", whole_from(1, 65536)},
      {"dropout", &O::dropout, "part of the features dropped while training", part_of_one()},
      {"gate", &O::gate, "each word decides how much of what it sees it takes"},
      {"penalty", &O::penalty, "for regions whose looks over all words do not sum to one",
       between(0, 1000)},
      {"expectation", &O::expectation, "part of the pictures looked at softly while training",
       between(0, 1)},
      {"reward", &O::reward, "weight of what is learned from rewards", between(0, 1000)},
      {"look_entropy", &O::look_entropy, "bonus for each nat of a look's entropy",
       between(0, 1000)}};
  return fields;
}

const std::vector<std::string>& hard_looking_options() {
  static const std::vector<std::string> names{"expectation", "reward", "look_entropy"};
  return names;
}

namespace {

AttentionOptions with_widths(AttentionOptions o, int64_t d_q, int64_t d_k) {
  o.d_q = d_q;
  o.d_k = o.d_v = d_k;
  return o;
}

Tensor with_one_head(const Tensor& x) { return reshape(x, {x.dim(0), x.dim(1), 1, x.dim(2)}); }

// [B, T] of 0 and 1: which words of which sequence there are.
Tensor there_are(const Sequences& s, Dtype dtype) {
  Tensor mask = Tensor::zeros({s.count(), s.longest}, dtype);
  const auto offsets = s.offsets.read<int32_t>();
  with_real(dtype, [&]<class T>(T) {
    auto to = mask.write<T>();
    for (int64_t b = 0; b < s.count(); ++b) {
      std::fill_n(to.begin() + b * s.longest, offsets[b + 1] - offsets[b], T(1));
    }
  });
  return mask;
}

// The region that u in [0, 1) falls on, or the heaviest for u < 0.
template <class T>
int32_t chosen(std::span<const T> p, double u) {
  if (u < 0) return static_cast<int32_t>(std::ranges::max_element(p) - p.begin());
  int32_t last = 0;
  for (int32_t i = 0; i < static_cast<int32_t>(p.size()); ++i) {
    if (p[i] <= 0) continue;
    last = i;
    if (u < p[i]) break;
    u -= p[i];
  }
  return last;
}

}  // namespace

CaptionDecoder::CaptionDecoder(Scope s, int64_t vocabulary, int64_t features, Looking looking,
                               const CaptionDecoderOptions& o, AttentionOptions attention)
    : name((s / "attention").path()),
      looking_(looking),
      options_(o),
      embedding_(s / "embedding", vocabulary, o.embed),
      layers_(s / "layers", o.embed + features, o.width, {.cell = Cell::lstm}),
      first_h_(s / "first_h", features, o.width),
      first_c_(s / "first_c", features, o.width),
      h_out_(s / "h_out", o.width, o.embed),
      z_out_(s / "z_out", features, o.embed, {.bias = false}),
      output_(s / "output", o.embed, vocabulary) {
  if (o.gate) gate_.emplace(s / "gate", o.width, 1);
  if (looking == Looking::none) return;
  const AttentionOptions a = with_widths(std::move(attention), o.width, features);
  const Scope at = s / "attention";
  if (a.score == "additive") {
    key_.emplace(at / "score" / "key", features, a.score_width);
    query_.emplace(at / "score" / "query", o.width, a.score_width, LinearOptions{.bias = false});
    w_ = (at / "score").param("w", {a.score_width}, init::xavier_uniform());
    act_ = score_map(a.act);
    score_ = [q = *query_, w = w_, act = act_](const Tensor& h, const Tensor& k) {
      return ScoreForm{q(h), k, 1, act, w};
    };
  } else {
    score_ = score_factory(a)(at / "score", o.width, features);
  }
  if (looking == Looking::soft) {
    align_ = alignment_factory(a)(at / "align", o.width);
    check(!align_.rewarded, "captioner: looks of the alignment '", align_.name,
          "' are the model hard's to draw");
    return;
  }
  baseline_ = s.param("baseline", {2}, init::zeros());
  baseline_.freeze();
}

CaptionDecoder::Ground CaptionDecoder::ground_of(const Memory& memory) const {
  Ground ground;
  ground.mean = memory.beginnings.at(0);
  if (looking_ == Looking::none) return ground;
  ground.keys = with_one_head(key_ ? (*key_)(memory.states) : memory.states);
  ground.values = with_one_head(memory.states);
  const auto lengths = memory.lengths.read<int32_t>();
  const bool whole =
      std::ranges::all_of(lengths, [&](int32_t n) { return n == memory.states.dim(1); });
  if (!whole) ground.lengths = memory.lengths;
  Random* random = Tape::random();
  if (looking_ == Looking::hard && random != nullptr && options_.expectation > 0) {
    ground.expected = Tensor::zeros({memory.count(), 1}, memory.states.dtype());
    with_real(memory.states.dtype(), [&]<class T>(T) {
      for (T& x : ground.expected.write<T>()) x = random->uniform() < options_.expectation ? 1 : 0;
    });
  }
  return ground;
}

RecurrentStates CaptionDecoder::first_states(const Memory& memory) const {
  const Tensor& mean = memory.beginnings.at(0);
  return {{.h = tanh(first_h_(mean)), .c = tanh(first_c_(mean))}};
}

CaptionDecoder::Look CaptionDecoder::choose(const Ground& ground, const Tensor& alpha,
                                            int64_t t) const {
  const int64_t n = alpha.dim(0), L = alpha.dim(1);
  Tensor taken = Tensor::zeros({n, L}, alpha.dtype());
  Random* random = Tape::random();
  with_real(alpha.dtype(), [&]<class T>(T) {
    const auto p = alpha.read<T>();
    auto to = taken.write<T>();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = !ground.forced.empty()
                             ? ground.forced[static_cast<size_t>(t * n + i)]
                             : chosen(p.subspan(i * L, L), random ? random->uniform() : -1);
      to[i * L + at] = 1;
    }
  });
  Look look;
  look.alpha = alpha;
  look.log_probability = log(sum(alpha * taken, -1));
  Tensor weights = taken;
  if (!ground.expected.empty()) {
    weights = taken * (1.0 - ground.expected) + alpha * ground.expected;
    // What was not drawn is not rewarded.
    look.log_probability = look.log_probability * (1.0 - reshape(ground.expected, {n}));
  }
  const int64_t B = ground.values.dim(0), D = ground.values.dim(3);
  const Tensor values = reshape(ground.values, {B, L, D});
  look.context = reshape(matmul(reshape(weights, {B, n / B, L}), values), {n, D});
  if (Recorder* recorder = Recorder::current()) {
    Weights kept;
    kept.rows = reshape(weights, {B, 1, n / B, L}).to(Dtype::f32);
    recorder->keep(name, std::move(kept));
  }
  return look;
}

CaptionDecoder::Look CaptionDecoder::look(const Ground& ground, const Tensor& h, int64_t beam,
                                          int64_t t, bool keep) const {
  if (looking_ == Looking::none) return {ground.mean};
  const int64_t n = h.dim(0), B = n / beam;
  AttentionInputs in;
  in.q = reshape(h, {B, beam, 1, h.dim(1)});
  in.k = ground.keys;
  in.v = ground.values;
  if (!ground.lengths.empty()) {
    in.who = lengths(ground.lengths);
    in.lengths = ground.lengths;
  }
  in.places = Tensor::full({B, beam}, static_cast<double>(t), h.dtype());
  in.name = name;
  const int64_t L = in.k.dim(1);
  if (looking_ == Looking::hard) {
    in.capture.what = Capture::What::with_gradient;
    const Tensor alpha = attend_unrecorded(in, score_, align_).weights.rows;
    return choose(ground, reshape(permute(alpha, {0, 2, 1, 3}), {n, L}), t);
  }
  if (keep) in.capture.what = Capture::What::with_gradient;
  const AttentionOutput out = attend(in, score_, align_);
  Look look{reshape(out.context, {n, ground.values.dim(3)})};
  if (keep) look.alpha = reshape(permute(out.weights.rows, {0, 2, 1, 3}), {n, L});
  return look;
}

CaptionDecoder::Step CaptionDecoder::step(const Ground& ground, const Tensor& words,
                                          RecurrentStates& state, int64_t beam, int64_t t,
                                          bool keep) const {
  const Tensor h = state[0].h;
  Look seen = look(ground, h, beam, t, keep);
  if (seen.context.dim(0) != h.dim(0)) {  // one mean for every answer of a beam
    const int64_t B = seen.context.dim(0), D = seen.context.dim(1);
    seen.context =
        reshape(broadcast_to(reshape(seen.context, {B, 1, D}), {B, beam, D}), {B * beam, D});
  }
  const Tensor z = gate_ ? seen.context * sigmoid((*gate_)(h)) : seen.context;
  const Tensor next = layers_.step(concat(std::vector{words, z}, -1), state);
  return {next, z, std::move(seen)};
}

Tensor CaptionDecoder::scores_of(const Tensor& words, const Tensor& h, const Tensor& z) const {
  // What is remembered is less to be relied on than what is seen now, so that words look.
  const Tensor remembered = h_out_(dropout(h, options_.dropout));
  return output_(dropout(tanh(words + remembered + z_out_(z)), options_.dropout));
}

CaptionDecoder::Told CaptionDecoder::tell(const Memory& memory, const Sequences& target,
                                          const Ground& ground, bool keep) const {
  RecurrentStates state = first_states(memory);
  std::vector<Tensor> words, h, z;
  Told told;
  for (int64_t t = 0; t < target.longest; ++t) {
    words.push_back(dropout(embedding_(ids_at(target, t)), options_.dropout));
    Step one = step(ground, words.back(), state, 1, t, keep);
    h.push_back(one.h), z.push_back(one.z);
    if (!one.look.alpha.empty()) told.alpha.push_back(one.look.alpha);
    if (!one.look.log_probability.empty()) {
      told.log_probability.push_back(one.look.log_probability);
    }
  }
  const auto packed = [&](const std::vector<Tensor>& steps) {
    return pack(stack(steps, 1), target.offsets);
  };
  told.scores = scores_of(packed(words), packed(h), packed(z));
  return told;
}

Decoder::Taught CaptionDecoder::teach(const Memory& memory, const Sequences& target) const {
  const Told told = tell(memory, target, ground_of(memory), false);
  Taught taught{told.scores};
  if (!told.log_probability.empty()) {
    taught.log_probability = pack(stack(told.log_probability, 1), target.offsets);
  }
  return taught;
}

namespace {

// Of each row what it and those behind it in its sequence cost, less what is usual for so many
// words; numbers, not part of what is differentiated.
Tensor advantages(const Tensor& cost, const Sequences& target, double usual) {
  Tensor to(cost.shape(), cost.dtype());
  const auto offsets = target.offsets.read<int32_t>();
  with_real(cost.dtype(), [&]<class T>(T) {
    const auto from = cost.read<T>();
    auto out = to.write<T>();
    for (int64_t b = 0; b < target.count(); ++b) {
      double rest = 0;
      for (int64_t i = offsets[b + 1] - 1; i >= offsets[b]; --i) {
        rest += from[i] - usual;
        out[i] = static_cast<T>(rest);
      }
    }
  });
  return to;
}

}  // namespace

Tensor CaptionDecoder::loss(const Memory& memory, const Sequences& target, const Tensor& wanted,
                            double smoothing) const {
  const bool keep = options_.penalty > 0 && looking_ != Looking::none;
  const Told told = tell(memory, target, ground_of(memory), keep);
  const Tensor cost = cross_entropy_each(told.scores, wanted, smoothing);
  Tensor all = mean(cost);
  const auto words = static_cast<double>(target.rows());
  if (keep) {
    const Tensor there = there_are(target, cost.dtype());  // [B, T]
    const Tensor looks =
        sum(stack(told.alpha, 1) * reshape(there, {there.dim(0), there.dim(1), 1}), 1);
    all = all + affine(sum(square(1.0 - looks)), options_.penalty / words, 0);
  }
  if (looking_ != Looking::hard || Tape::random() == nullptr) return all;
  const Tensor known = baseline_.value().to(Dtype::f64);
  const double now = mean(cost).item();
  const double usual = known.read<double>()[1] > 0 ? known.read<double>()[0] : now;
  const Tensor log_p = pack(stack(told.log_probability, 1), target.offsets);
  all = all + affine(sum(advantages(cost, target, usual) * log_p), options_.reward / words, 0);
  if (options_.look_entropy > 0) {
    const Tensor alpha = stack(told.alpha, 1);  // [B, T, L]
    const Tensor entropy = sum(alpha * log(alpha + 1e-10), -1) * there_are(target, cost.dtype());
    all = all + affine(sum(entropy), options_.look_entropy / words, 0);
  }
  with_real(baseline_.dtype(), [&]<class T>(T) {
    auto to = baseline_.write<T>();
    to[0] = static_cast<T>(0.9 * usual + 0.1 * now);
    to[1] = 1;
  });
  return all;
}

CaptionDecoder::Forced CaptionDecoder::forced(const Memory& memory, const Sequences& target,
                                              const Tensor& wanted, const Tensor& regions) const {
  Ground ground = ground_of(memory);
  check(looking_ == Looking::hard && regions.rank() == 2 && regions.dim(0) == target.count() &&
            regions.dim(1) == target.longest,
        "captioner: regions are forced on hard looks, one for each word of each caption");
  ground.expected = {};
  for (int64_t t = 0; t < target.longest; ++t) {
    for (int64_t b = 0; b < target.count(); ++b) {
      ground.forced.push_back(regions.read<int32_t>()[b * target.longest + t]);
    }
  }
  const Told told = tell(memory, target, ground, false);
  return {cross_entropy_each(told.scores, wanted),
          pack(stack(told.log_probability, 1), target.offsets)};
}

// One word of every answer after the other.
class CaptionDecoding : public Decoder::Decoding {
 public:
  CaptionDecoding(const CaptionDecoder& model, const Memory& memory, int64_t beam)
      : model_(model), ground_(model.ground_of(memory)), beam_(beam) {
    state_ = model.first_states(memory);
    if (beam == 1) return;
    std::vector<int32_t> rows;
    for (int64_t i = 0; i < memory.count() * beam; ++i)
      rows.push_back(static_cast<int32_t>(i / beam));
    select(Tensor::of({memory.count() * beam}, rows));
  }

  Tensor step(const Tensor& ids) override {
    const Tensor words = dropout(model_.embedding_(ids), model_.options_.dropout);
    const auto one = model_.step(ground_, words, state_, beam_, t_++, false);
    return model_.scores_of(words, one.h, one.z);
  }
  void select(const Tensor& rows) override {
    state_[0].h = embedding(state_[0].h, rows);
    state_[0].c = embedding(state_[0].c, rows);
  }

 private:
  const CaptionDecoder& model_;
  CaptionDecoder::Ground ground_;
  RecurrentStates state_;
  int64_t beam_, t_ = 0;
};

std::unique_ptr<Decoder::Decoding> CaptionDecoder::start(const Memory& memory, int64_t beam) const {
  return std::make_unique<CaptionDecoding>(*this, memory, beam);
}

}  // namespace fovea
