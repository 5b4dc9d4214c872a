#include "fovea/model/memory/stories.h"

#include <cmath>
#include <limits>

#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/linear.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {

const Fields<StoryOptions>& story_fields() {
  using O = StoryOptions;
  static const Fields<O> fields{
      {"width", &O::width, "features of a word and a sentence", whole_from(1, 65536)},
      {"memory", &O::memory, "sentences that are kept, the newest; 0: all", whole_from(0, 1e6)},
      {"positions", &O::positions, "a word counts by where it stands in its sentence"}};
  return fields;
}

Parameter fixed_rows(Scope s, const ModelSizes& sizes, int64_t width) {
  if (sizes.hashed == 0) return {};
  Parameter rows = s.param("fixed", {sizes.hashed, width},
                           init::normal(1 / std::sqrt(static_cast<double>(width))));
  rows.freeze();
  return rows;
}

WordTable::WordTable(Scope s, const ModelSizes& sizes, int64_t width, int64_t times,
                     double deviation, const Parameter& fixed)
    : weight(s.param("weight", {sizes.vocabulary + times, width}, init::normal(deviation))),
      fixed(fixed),
      vocabulary(sizes.vocabulary) {}

Tensor WordTable::operator()(const Sequences& words, const Tensor& places,
                             const Tensor& weights) const {
  Sequences moved = words;
  // Rows that are not learned come behind the times here, and in the data behind the words.
  const int64_t times = weight.dim(0) - vocabulary;
  if (!fixed.empty() && times > 0) {
    for (int32_t& id : moved.ids.write<int32_t>()) {
      if (id >= vocabulary) {
        const bool time = id >= vocabulary + fixed.dim(0);
        id = static_cast<int32_t>(time ? id - fixed.dim(0) : id + times);
      }
    }
  }
  return bags(weight, fixed, moved, places, weights);
}

Tensor WordTable::rows(const Tensor& ids) const {
  const int64_t n = ids.elements();
  Tensor offsets({n + 1}, Dtype::i32);
  for (int64_t i = 0; i <= n; ++i) offsets.write<int32_t>()[i] = static_cast<int32_t>(i);
  return each(Sequences(ids.reshaped({n}), Packing(offsets)));
}

Tensor WordTable::each(const Sequences& words) const {
  return (*this)(words, Tensor::zeros({words.rows()}, Dtype::i32),
                 Tensor::full({1, weight.dim(1)}, 1, weight.dtype()));
}

RememberedSentences remembered(const NestedSequences& story, int64_t longest_sentence,
                               const TimeOptions& o) {
  const auto words = story.inner.offsets.read<int32_t>(),
             outer = story.outer.offsets.read<int32_t>();
  const auto ids =
      story.inner.ids.empty() ? std::span<const int32_t>() : story.inner.ids.read<int32_t>();
  Random* random = Tape::random();
  std::vector<std::vector<int32_t>> sentences;
  std::vector<int32_t> places, counts{0}, first;
  for (int64_t b = 0; b < story.count(); ++b) {
    const int32_t end = outer[b + 1];
    const int64_t n = o.memory > 0 ? std::min<int64_t>(o.memory, end - outer[b]) : end - outer[b];
    first.push_back(static_cast<int32_t>(end - n - outer[b]));
    // Times rise from the newest sentence on; noise leaves some out.
    std::vector<int64_t> time(static_cast<size_t>(n));
    int64_t empty = 0;
    if (random && o.noise > 0 && o.times > 0) {
      const auto most = static_cast<uint64_t>(std::ceil(o.noise * static_cast<double>(n)));
      empty = std::min<int64_t>(static_cast<int64_t>(random->below(most + 1)), o.times - n);
    }
    for (int64_t at = 0, left = n, slots = n + std::max<int64_t>(0, empty); left > 0;
         ++at, --slots) {
      if (slots == left ||
          random->below(static_cast<uint64_t>(slots)) < static_cast<uint64_t>(left)) {
        time[static_cast<size_t>(n - left)] = at;
        --left;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t s = end - n + i;
      std::vector<int32_t> list(ids.begin() + words[s], ids.begin() + words[s + 1]);
      for (size_t j = 0; j < list.size(); ++j) {
        places.push_back(
            static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(j), longest_sentence - 1)));
      }
      if (o.times > 0) {
        const int64_t age = std::min(time[static_cast<size_t>(n - 1 - i)], o.times - 1);
        list.push_back(static_cast<int32_t>(o.first_id + age));
        places.push_back(static_cast<int32_t>(longest_sentence));
      }
      sentences.push_back(std::move(list));
    }
    counts.push_back(static_cast<int32_t>(sentences.size()));
  }
  if (sentences.empty()) sentences.emplace_back();  // one without words, which no story has
  const auto B = static_cast<int64_t>(counts.size());
  RememberedSentences all;
  all.words = sequences_of(sentences);
  all.places = Tensor::of({static_cast<int64_t>(places.size())}, places);
  all.outer = Packing(Tensor::of({B}, counts));
  all.first = Tensor::of({B - 1}, first);
  return all;
}

Tensor places_in(const Sequences& words, int64_t longest_sentence) {
  Tensor places = words.places();
  for (int32_t& place : places.write<int32_t>())
    place = static_cast<int32_t>(std::min<int64_t>(place, longest_sentence - 1));
  return places;
}

std::vector<std::vector<int32_t>> read_through(const ModelInputs& in, int32_t mark) {
  std::vector<std::vector<int32_t>> lists;
  const auto add = [&](const Sequences& from, int64_t i) {
    const auto offsets = from.offsets.read<int32_t>();
    if (offsets[i] == offsets[i + 1]) return;
    const auto ids = from.ids.read<int32_t>();
    lists.back().insert(lists.back().end(), ids.begin() + offsets[i], ids.begin() + offsets[i + 1]);
  };
  const auto outer = in.story.outer.offsets.read<int32_t>();
  for (int64_t b = 0; b < in.question.count(); ++b) {
    lists.emplace_back();
    for (int64_t s = outer[b]; s < outer[b + 1]; ++s) {
      add(in.story.inner, s);
      if (mark >= 0) lists.back().push_back(mark);
    }
    add(in.question, b);
  }
  return lists;
}

Tensor story_weights(bool positions, int64_t longest_sentence, int64_t width, Dtype dtype) {
  // A place more, behind all words, is the time's.
  if (positions) return place_weights(longest_sentence + 1, width, dtype);
  return Tensor::full({longest_sentence + 1, width}, 1, dtype);
}

Tensor candidate_scores(const WordTable& table, const Tensor& u, const Tensor& candidates) {
  const int64_t B = u.dim(0), d = u.dim(1);
  if (candidates.rank() == 1) return linear(u, table.rows(candidates));
  const int64_t C = candidates.dim(1);
  Tensor ids = candidates, there(candidates.shape(), Dtype::i32);
  {
    auto id = ids.write<int32_t>();
    auto is = there.write<int32_t>();
    for (size_t i = 0; i < id.size(); ++i) is[i] = id[i] >= 0, id[i] = std::max(id[i], 0);
  }
  const Tensor rows = reshape(table.rows(ids), {B, C, d});
  const Tensor scores = reshape(matmul(reshape(u, {B, 1, d}), rows, Transpose::b), {B, C});
  return where(there, scores, -1e30);
}

Tensor summed_loss(const Tensor& scores, const Tensor& targets, double smoothing) {
  return sum(cross_entropy_each(scores, targets, smoothing));
}

}  // namespace fovea
