#include "fovea/model/reader/span_transformer.h"

#include "fovea/op/dropout.h"

namespace fovea {
namespace {

// Question and passage side by side, and where what came from.
struct Joined {
  Sequences all;
  Tensor sides;           // int32 [rows]: 0 before the passage, 1 in it
  Tensor first, passage;  // int32: rows of `begin`, and of the passages' words
  Tensor letters;         // as all.ids; empty where there are none
};

Joined joined(const ModelInputs& in, bool letters) {
  std::vector<std::vector<int32_t>> lists;
  std::vector<int32_t> sides, first, passage, spelled;
  const auto text = in.text.offsets.read<int32_t>(), asked = in.question.offsets.read<int32_t>();
  const auto words = in.text.ids.read<int32_t>(), question = in.question.ids.read<int32_t>();
  const auto spell = [&](const Tensor& from, int32_t row) {
    if (!letters) return;
    const auto n = static_cast<size_t>(letters_of_word);
    if (row < 0) return spelled.resize(spelled.size() + n), void();
    const auto all = from.read<int32_t>().subspan(static_cast<size_t>(row) * n, n);
    spelled.insert(spelled.end(), all.begin(), all.end());
  };
  for (size_t b = 0; b + 1 < text.size(); ++b) {
    std::vector<int32_t> list{SpanTransformer::begin};
    first.push_back(static_cast<int32_t>(sides.size()));
    spell({}, -1);
    for (int32_t i = asked[b]; i < asked[b + 1]; ++i) {
      list.push_back(question[static_cast<size_t>(i)]);
      spell(in.second_letters, i);
    }
    list.push_back(SpanTransformer::end);
    spell({}, -1);
    sides.resize(sides.size() + list.size(), 0);
    for (int32_t i = text[b]; i < text[b + 1]; ++i) {
      list.push_back(words[static_cast<size_t>(i)]);
      passage.push_back(static_cast<int32_t>(sides.size()));
      sides.push_back(1);
      spell(in.letters, i);
    }
    lists.push_back(std::move(list));
  }
  const auto ids = [](const std::vector<int32_t>& list) {
    return Tensor::of({static_cast<int64_t>(list.size())}, list);
  };
  return {sequences_of(lists), ids(sides), ids(first), ids(passage),
          letters ? ids(spelled).reshaped({static_cast<int64_t>(sides.size()), letters_of_word})
                  : Tensor()};
}

}  // namespace

SpanTransformer::SpanTransformer(Scope s, const ModelSizes& sizes, const TransformerOptions& o,
                                 const SpellingOptions& spelling)
    : encoder_(s / "encoder", sizes.vocabulary, o, TransformerBlock::Kind::encoder),
      sides_(s / "sides", 2, o.width),
      output_(s / "output", o.width, 2),
      nothing_(sizes.labels == may_be_unanswered) {
  if (spelling.letters == 0) return;
  spelling_.emplace(s, sizes.alphabet, spelling.letters);
  spelled_.emplace(s / "spelled", spelling.letters, o.width);
}

SpanReader::Output SpanTransformer::operator()(const ModelInputs& in) const {
  const Joined j = joined(in, spelling_.has_value());
  Tensor more = sides_(j.sides);
  if (spelling_) more = more + (*spelled_)((*spelling_)(j.letters));
  const Tensor h = dropout(encoder_(j.all, more), encoder_.options.dropout);
  const Tensor scores = output_(h);  // [rows, 2]
  const Tensor words = embedding(scores, j.passage),
               nothing = nothing_ ? embedding(scores, j.first) : Tensor();
  const auto column = [](const Tensor& x, int64_t i) {
    return x.empty() ? Tensor() : slice(x, 1, i, i + 1);
  };
  return {span_scores(column(words, 0), in.text, column(nothing, 0)),
          span_scores(column(words, 1), in.text, column(nothing, 1))};
}

}  // namespace fovea
