#include "fovea/model/memory/key_value.h"

#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

const Fields<KeyValueOptions>& key_value_fields() {
  using O = KeyValueOptions;
  static const Fields<O> fields(
      story_fields(),
      {{"hops", &O::hops, "looks at the memory, one after the other", whole_from(1, 100)},
       {"keys", &O::keys, "look for keys and read values; else both are key and value together"}});
  return fields;
}

KeyValueMemory::KeyValueMemory(Scope s, const ModelSizes& sizes, const KeyValueOptions& o,
                               const AttentionOptions& attention)
    : options_(o),
      longest_sentence_(std::max<int64_t>(1, sizes.longest_sentence)),
      table_(s / "words", sizes, o.width, 0, 0.1, fixed_rows(s, sizes, o.width)),
      look_(s, "kv", "hops", attention, o.width) {
  // It starts as adding, and learns where to turn from there.
  const Init identity = [](const Shape& shape, Random) {
    Tensor eye = Tensor::zeros(shape, Dtype::f64);
    for (int64_t i = 0; i < shape[0]; ++i) eye.write<double>()[i * shape[1] + i] = 1;
    return eye;
  };
  for (int64_t j = 0; j < o.hops; ++j)
    turns_.emplace_back(s / "turn" / j, o.width, o.width,
                        LinearOptions{.bias = false, .init = identity});
}

Scorer::Output KeyValueMemory::operator()(const ModelInputs& in) const {
  const int64_t B = in.question.count(), d = options_.width;
  const Tensor weights =
      story_weights(options_.positions, longest_sentence_, d, table_.weight.dtype());
  const TimeOptions no_times{.memory = options_.memory};
  MemoryLook::Memory memory;
  const auto rows = [&](const NestedSequences& of) {
    const RememberedSentences m = remembered(of, longest_sentence_, no_times);
    const int64_t S = std::max<int64_t>(1, m.outer.longest);
    memory.filled = m.outer.lengths();
    const Tensor all = table_(m.words, m.places, weights);
    const Tensor own = m.outer.rows() == all.dim(0) ? all : slice(all, 0, 0, m.outer.rows());
    return reshape(unpack(own, m.outer.offsets, S), {B, S, 1, d});
  };
  const bool apart = options_.keys && in.keys.outer.longest > 0;
  memory.keys = rows(apart ? in.keys : in.story);
  memory.values = apart ? rows(in.values) : memory.keys;
  Tensor q = table_(in.question, places_in(in.question, longest_sentence_), weights);
  for (const Linear& turn : turns_) q = turn(q + look_(q, memory));
  return {candidate_scores(table_, q, in.candidates)};
}

}  // namespace fovea
