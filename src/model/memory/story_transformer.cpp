#include "fovea/model/memory/story_transformer.h"

#include <algorithm>
#include <cmath>

#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"

namespace fovea {
namespace {

// Words start as a Transformer's do: N(0, 1/width), times the root of the width.
double root_of(int64_t width) { return std::sqrt(static_cast<double>(width)); }

}  // namespace

StoryTransformer::StoryTransformer(Scope s, const ModelSizes& sizes, const TransformerOptions& o)
    : words_(s / "words", sizes, o.width, 1, 1 / root_of(o.width), fixed_rows(s, sizes, o.width)),
      parts_(s.param("parts", {2, o.width}, init::normal(0.1))),
      encoder_(s / "encoder", 0, o, TransformerBlock::Kind::encoder),
      answers_(s / "answers", sizes, o.width, 0, 0.1, words_.fixed),
      mark_(static_cast<int32_t>(sizes.vocabulary + sizes.hashed)) {}

Scorer::Output StoryTransformer::operator()(const ModelInputs& in) const {
  std::vector<std::vector<int32_t>> lists = read_through(in, mark_);
  const Tensor asked = in.question.lengths();
  std::vector<int32_t> part, rows, ends{0};  // rows: those of the questions
  for (size_t b = 0; b < lists.size(); ++b) {
    auto& list = lists[b];
    const auto n = std::min<int64_t>(std::ssize(list), encoder_.options.longest);
    list.erase(list.begin(), list.end() - n);
    for (int64_t i = 0; i < n; ++i) {
      const bool question = n - i <= asked.read<int32_t>()[b];
      if (question) rows.push_back(static_cast<int32_t>(part.size()));
      part.push_back(question ? 1 : 0);
    }
    ends.push_back(static_cast<int32_t>(rows.size()));
  }
  const auto ids_of = [](const std::vector<int32_t>& list) {
    return Tensor::of({std::ssize(list)}, list);
  };
  const Sequences all = sequences_of(lists);
  const Tensor x =
      words_.rows(all.ids) * root_of(encoder_.options.width) + embedding(parts_, ids_of(part));
  const Tensor states = embedding(encoder_.over(x, all), ids_of(rows));
  const Tensor read = mean_rows(states, Packing(ids_of(ends)));
  return {candidate_scores(answers_, dropout(read, encoder_.options.dropout), in.candidates)};
}

}  // namespace fovea
