#include "fovea/model/memory/entity_network.h"

#include "fovea/attention/recorder.h"
#include "fovea/memory/entity_slots.h"
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
      look_(s, "entnet", "slots", attention, o.width),
      path_(s.path()) {}

Tensor EntityNetwork::rectified(const Tensor& x, const Parameter& slope) const {
  return relu(x) - slope * relu(-x);
}

Scorer::Output EntityNetwork::operator()(const ModelInputs& in) const {
  const int64_t B = in.question.count(), d = options_.width, N = options_.slots;
  const Dtype dtype = table_.weight.dtype();
  const Tensor ones = Tensor::full({longest_sentence_, d}, 1, dtype);
  const RememberedSentences story =
      remembered(in.story, longest_sentence_, {.memory = options_.memory});
  const Tensor rows =
      slice(table_(story.words, story.places, story_mask_.empty() ? ones : story_mask_.value()), 0,
            0, story.outer.rows());
  Recorder* recorder = Recorder::current();
  Tensor gates;
  const Tensor h =
      entity_slots({rows, linear(rows, keys_), v_(rows)}, story.outer,
                   {keys_, w_(keys_) + u_.bias, u_.weight, slope_}, recorder ? &gates : nullptr);
  if (recorder && story.outer.longest > 0) {
    const int64_t S = story.outer.longest;
    Weights w;
    w.rows = reshape(unpack(gates, story.outer.offsets, S), {B, 1, S, N});
    recorder->keep(path_.empty() ? "gates" : path_ + "/gates", std::move(w));
  }
  const Tensor q = table_(in.question, places_in(in.question, longest_sentence_),
                          question_mask_.empty() ? ones : question_mask_.value());
  const Tensor slots = reshape(h, {B, N, 1, d}), u = look_(q, {.keys = slots, .values = slots});
  return {candidate_scores(answers_, rectified(q + h_(u), answer_slope_), in.candidates)};
}

Tensor EntityNetwork::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  return summed_loss((*this)(in).scores, targets, smoothing);
}

}  // namespace fovea
