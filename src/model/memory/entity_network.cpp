#include "fovea/model/memory/entity_network.h"

#include "fovea/attention/engine.h"
#include "fovea/attention/recorder.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

const Fields<EntityOptions>& entity_fields() {
  using O = EntityOptions;
  static const Fields<O> fields(
      story_fields(), {{"slots", &O::slots, "slots of the memory", whole_from(1, 1 << 20)}});
  return fields;
}

EntityNetwork::EntityNetwork(Scope s, const ModelSizes& sizes, const EntityOptions& o,
                             const AttentionOptions& attention)
    : options_(o),
      longest_sentence_(std::max<int64_t>(1, sizes.longest_sentence)),
      table_(s / "words", sizes, o.width, 0, 0.1, fixed_rows(s, sizes, o.width)),
      story_mask_(o.positions ? s.param("story/mask", {longest_sentence_, o.width}, init::ones())
                              : Parameter()),
      question_mask_(o.positions
                         ? s.param("question/mask", {longest_sentence_, o.width}, init::ones())
                         : Parameter()),
      keys_(s.param("keys", {o.slots, o.width}, init::normal(0.1))),
      u_(s / "u", o.width, o.width, {.init = init::normal(0.1)}),
      v_(s / "v", o.width, o.width, {.bias = false, .init = init::normal(0.1)}),
      w_(s / "w", o.width, o.width, {.bias = false, .init = init::normal(0.1)}),
      h_(s / "h", o.width, o.width, {.bias = false, .init = init::normal(0.1)}),
      slope_(s.param("slope", {o.width}, init::ones())),
      answer_slope_(s.param("answer/slope", {o.width}, init::ones())),
      answers_(s / "answers", sizes, o.width, 0, 0.1, table_.fixed),
      align_(alignment_factory(attention)(s / "align", o.width)),
      path_(s.path()) {}

Tensor EntityNetwork::rectified(const Tensor& x, const Parameter& slope) const {
  return relu(x) - slope * relu(-x);
}

Tensor EntityNetwork::step(const Tensor& h, const Sentence& x, const Tensor& keys_moved) const {
  const int64_t B = h.dim(0), N = h.dim(1), d = h.dim(2);
  const Tensor to_slots = reshape(matmul(h, reshape(x.s, {B, d, 1})), {B, N});
  const Tensor gate = sigmoid(to_slots + x.to_keys);
  if (Recorder* recorder = Recorder::current()) {
    Weights w;
    w.rows = reshape(gate, {B, 1, 1, N});
    recorder->keep(path_.empty() ? "gates" : path_ + "/gates", std::move(w));
  }
  const Tensor candidate =
      rectified(reshape(u_(h), {B, N, d}) + reshape(x.moved, {B, 1, d}) + keys_moved, slope_);
  const Tensor sum_of = h + reshape(gate, {B, N, 1}) * candidate;
  return sum_of / sqrt(sum(square(sum_of), -1, true) + 1e-12);
}

Scorer::Output EntityNetwork::operator()(const ModelInputs& in) const {
  const int64_t B = in.question.count(), d = options_.width, N = options_.slots;
  const Dtype dtype = table_.weight.dtype();
  const Tensor ones = Tensor::full({longest_sentence_, d}, 1, dtype);
  const RememberedSentences story =
      remembered(in.story, longest_sentence_, {.memory = options_.memory});
  const int64_t S = story.outer.longest, all = story.outer.rows();
  Tensor h = broadcast_to(reshape(keys_, {1, N, d}), {B, N, d});
  if (S > 0) {
    const Tensor rows =
        slice(table_(story.words, story.places, story_mask_.empty() ? ones : story_mask_.value()),
              0, 0, all);
    // Time first, so that a step's rows lie together.
    const auto by_time = [&](const Tensor& x) {
      return permute(unpack(x, story.outer.offsets, S), {1, 0, 2});
    };
    const Tensor s = by_time(rows), to_keys = by_time(linear(rows, keys_)),
                 moved = by_time(v_(rows));
    const Tensor keys_moved = reshape(w_(keys_), {1, N, d});
    const Tensor lengths_of = story.outer.lengths();
    for (int64_t t = 0; t < S; ++t) {
      const auto at = [&](const Tensor& x) {
        return reshape(slice(x, 0, t, t + 1), {B, x.dim(2)});
      };
      const Tensor next = step(h, {at(s), at(to_keys), at(moved)}, keys_moved);
      Tensor going({B, 1, 1}, dtype);
      bool all_go = true;
      with_real(dtype, [&]<class T>(T) {
        for (int64_t b = 0; b < B; ++b) {
          const bool goes = t < lengths_of.read<int32_t>()[b];
          going.write<T>()[b] = goes ? T(1) : T(0);
          all_go &= goes;
        }
      });
      h = all_go ? next : h + going * (next - h);
    }
  }
  const Tensor q = table_(in.question, places_in(in.question, longest_sentence_),
                          question_mask_.empty() ? ones : question_mask_.value());
  AttentionInputs look;
  look.q = reshape(q, {B, 1, 1, d});
  look.k = look.v = reshape(h, {B, N, 1, d});
  look.name = path_.empty() ? "slots" : path_ + "/slots";
  const Tensor u = reshape(attend(look, dot_score(), align_).context, {B, d});
  return {candidate_scores(answers_, rectified(q + h_(u), answer_slope_), in.candidates)};
}

Tensor EntityNetwork::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  return summed_loss((*this)(in).scores, targets, smoothing);
}

}  // namespace fovea
