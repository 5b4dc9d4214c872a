#include "fovea/model/memory/end_to_end.h"

#include <cmath>
#include <limits>

#include "fovea/attention/align/given.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// Scores as they are, for the linear start.
struct Linearly {
  template <class T>
  void forward(std::span<T> row) const {
    for (T& x : row) x = x > -std::numeric_limits<T>::infinity() ? x : T(0);
  }
  template <class T>
  void backward(std::span<const T>, std::span<T>) const {}
};

// Of scores [B, 1, 1, S], where that of an empty slot stands behind a story's sentences: to be
// added, so that it counts as often as there are such slots.
Tensor empty_slots(const Tensor& filled, int64_t S, int64_t slots, Dtype dtype) {
  const int64_t B = filled.dim(0);
  Tensor bias({B, 1, 1, S}, dtype);
  with_real(dtype, [&]<class T>(T) {
    for (int64_t b = 0; b < B; ++b) {
      const int64_t n = filled.read<int32_t>()[b];
      T* row = bias.write<T>().data() + b * S;
      for (int64_t i = 0; i < S; ++i) row[i] = i < n ? T(0) : -std::numeric_limits<T>::infinity();
      // A story that fills the memory, or has no sentence, can still look at nothing once.
      row[n] = std::log(static_cast<T>(std::max<int64_t>(1, slots - n)));
    }
  });
  return bias;
}

}  // namespace

const Fields<EndToEndOptions>& end_to_end_fields() {
  using O = EndToEndOptions;
  static const Fields<O> fields(
      story_fields(),
      {{"hops", &O::hops, "looks at the memory, one after the other", whole_from(1, 100)},
       {"tying", &O::tying, "which words' vectors hops share", one_of({"adjacent", "layerwise"})},
       {"times", &O::times, "sentences know how old they are"},
       {"empty", &O::empty, "slots that hold nothing can be looked at, too"},
       {"linear_start", &O::linear_start, "epochs in which scores are weights, without softmax",
        whole_from(0, 1e9)},
       {"noise", &O::noise, "further times between sentences while training, as a part",
        part_of_one()}});
  return fields;
}

EndToEndMemory::EndToEndMemory(Scope s, const ModelSizes& sizes, const EndToEndOptions& o,
                               const AttentionOptions& attention)
    : options_(o),
      longest_sentence_(std::max<int64_t>(1, sizes.longest_sentence)),
      first_time_(sizes.vocabulary + sizes.hashed),
      times_(o.times ? (o.memory > 0 ? o.memory : sizes.longest_story) : 0),
      look_(s, "memn2n", "hops", attention, o.width) {
  const Parameter fixed = fixed_rows(s, sizes, o.width);
  const bool adjacent = o.tying == "adjacent";
  const int64_t tables = adjacent ? o.hops + 1 : 4;
  for (int64_t i = 0; i < tables; ++i)
    tables_.emplace_back(s / "words" / i, sizes, o.width, times_, 0.1, fixed);
  if (!adjacent)
    map_.emplace(s / "map", o.width, o.width,
                 LinearOptions{.bias = false, .init = init::normal(0.1)});
}

Scorer::Output EndToEndMemory::operator()(const ModelInputs& in) const {
  const int64_t B = in.question.count(), d = options_.width;
  const bool adjacent = options_.tying == "adjacent";
  const int64_t slots = options_.memory > 0 ? options_.memory : times_;
  const RememberedSentences sentences = remembered(in.story, longest_sentence_,
                                                   {.memory = options_.memory,
                                                    .times = times_,
                                                    .first_id = first_time_,
                                                    .noise = options_.noise});
  const Tensor weights =
      story_weights(options_.positions, longest_sentence_, d, tables_[0].weight.dtype());
  // A slot of zeros behind a story's sentences stands for all that are empty.
  const int64_t S = std::max<int64_t>(1, sentences.outer.longest) + (options_.empty ? 1 : 0);
  const auto rows = [&](int64_t table) {
    const Tensor all = tables_[table](sentences.words, sentences.places, weights);
    const Tensor own =
        sentences.outer.rows() == all.dim(0) ? all : slice(all, 0, 0, sentences.outer.rows());
    return reshape(unpack(own, sentences.outer.offsets, S), {B, S, 1, d});
  };
  Tensor u =
      tables_[adjacent ? 0 : 2](in.question, places_in(in.question, longest_sentence_), weights);
  static const Alignment linearly = row_alignment("linear", Linearly{});
  const bool linear_now = in.epoch >= 0 && in.epoch < options_.linear_start;
  MemoryLook::Memory memory{.keys = rows(0),
                            .values = adjacent ? Tensor() : rows(1),
                            .filled = sentences.outer.lengths()};
  if (options_.empty) memory.bias = empty_slots(memory.filled, S, slots, u.dtype());
  for (int64_t k = 0; k < options_.hops; ++k) {
    if (adjacent) memory.values = rows(k + 1);
    const Tensor o = look_(u, memory, linear_now ? &linearly : nullptr);
    u = (map_ ? (*map_)(u) : u) + o;
    if (adjacent) memory.keys = memory.values;
  }
  return {candidate_scores(tables_[adjacent ? options_.hops : 3], u, in.candidates)};
}

Tensor EndToEndMemory::loss(const ModelInputs& in, const Tensor& targets, double smoothing) const {
  return summed_loss((*this)(in).scores, targets, smoothing);
}

}  // namespace fovea
