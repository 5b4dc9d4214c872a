#include "fovea/model/pair/inputs.h"

#include <algorithm>

#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

Features states(const TextEncoder& encoder, const Sequences& text) {
  return features_of({encoder(text), text});
}

// Which rows of the text are part of what: [from, to) of each example, by their numbers.
template <class Range>
Sequences cut(const ModelInputs& in, const Range& range) {
  check(in.phrase.rank() == 2 && in.phrase.dim(0) == in.text.count() && in.phrase.dim(1) == 2,
        "phrase: needs where it begins and ends in each of ", in.text.count(), " texts, got ",
        in.phrase.shape());
  std::vector<std::vector<int32_t>> rows(static_cast<size_t>(in.text.count()));
  const auto offsets = in.text.offsets.read<int32_t>(), phrase = in.phrase.read<int32_t>();
  for (size_t b = 0; b < rows.size(); ++b) {
    const int32_t begin = offsets[b], length = offsets[b + 1] - begin;
    const int32_t from = phrase[2 * b], to = phrase[2 * b + 1];
    check(0 <= from && from < to && to <= length, "phrase: [", from, ", ", to,
          ") is not a part of a text of ", length, " tokens");
    const auto [first, last] = range(from, to, length);
    for (int32_t i = first; i < last; ++i) rows[b].push_back(begin + i);
  }
  return sequences_of(rows);
}

using Ends = std::pair<int32_t, int32_t>;
Ends of_phrase(int32_t from, int32_t to, int32_t) { return {from, to}; }
Ends of_left(int32_t from, int32_t, int32_t) { return {0, from}; }
Ends of_right(int32_t, int32_t to, int32_t length) { return {to, length}; }

// The states of those rows: chosen among those of the whole, or of the tokens by themselves.
Features part_of(const TextEncoder& encoder, const ModelInputs& in, const Tensor& whole,
                 const Sequences& rows) {
  if (!whole.empty()) return features_of({embedding(whole, rows.ids), rows});
  if (rows.rows() > 0) {
    Tensor ids(rows.ids.shape(), Dtype::i32);
    std::ranges::transform(rows.ids.read<int32_t>(), ids.write<int32_t>().begin(),
                           [&](int32_t i) { return in.text.ids.read<int32_t>()[i]; });
    return states(encoder, Sequences(ids, rows));
  }
  const int64_t B = rows.count();
  return {Tensor::zeros({B, 1, encoder.features()}, encoder.dtype()),
          Tensor::zeros({B}, Dtype::i32)};
}

}  // namespace

const Fields<PairOptions>& pair_fields() {
  static const Fields<PairOptions> fields(
      text_encoder_fields(),
      {{"match", &PairOptions::match, "of two texts, mark the words that both have"}});
  return fields;
}

const Fields<PairOptions>& phrase_fields() {
  static const Fields<PairOptions> fields(
      text_encoder_fields(), {{"whole", &PairOptions::whole,
                               "encode the sentence as a whole, and then cut the phrase out"}});
  return fields;
}

TwoTexts encode_pair(const TextEncoder& encoder, const ModelInputs& in) {
  const int64_t B = in.text.count(), n = in.text.rows();
  check(in.second.count() == B, "pair: needs two texts for each example, got ", B, " and ",
        in.second.count());
  Tensor offsets({2 * B + 1}, Dtype::i32);
  std::ranges::copy(in.text.offsets.read<int32_t>(), offsets.write<int32_t>().begin());
  std::ranges::transform(in.second.offsets.read<int32_t>(), offsets.write<int32_t>().begin() + B,
                         [&](int32_t at) { return at + static_cast<int32_t>(n); });
  const Packing both(offsets);
  Tensor marks;
  if (encoder.marked) {
    check(!in.shared.empty() && !in.second_shared.empty(),
          "pair: needs to know which words both texts have");
    marks = concat({in.shared, in.second_shared}, 0).to(encoder.dtype());
  }
  const Tensor rows = encoder(Sequences(concat({in.text.ids, in.second.ids}, 0), both), marks);
  return {features_of({slice(rows, 0, 0, n), in.text}),
          features_of({slice(rows, 0, n, both.rows()), in.second})};
}

RecordRows::RecordRows(Scope s, int64_t numbers, int64_t width)
    : name(s.param("name", {numbers, width}, init::normal(0.3))),
      value(s.param("value", {numbers, width}, init::normal(0.3))) {}

Features RecordRows::operator()(const Tensor& numbers) const {
  const int64_t B = numbers.dim(0), n = name.dim(0);
  check(numbers.rank() == 2 && numbers.dim(1) == n, "record: needs ", n, " numbers, got ",
        numbers.shape());
  const Tensor z = reshape(numbers.to(name.dtype()), {B, n, 1});
  return {tanh(name + z * value), Tensor::full({B}, static_cast<double>(n)).to(Dtype::i32)};
}

PhraseAndSides encode_phrase(const TextEncoder& encoder, const ModelInputs& in, bool whole) {
  const Tensor rows = whole ? encoder(in.text) : Tensor();
  return {part_of(encoder, in, rows, cut(in, of_phrase)),
          part_of(encoder, in, rows, cut(in, of_left)),
          part_of(encoder, in, rows, cut(in, of_right))};
}

TwoTexts encode_sentence_and_phrase(const TextEncoder& encoder, const ModelInputs& in, bool whole) {
  const Tensor rows = encoder(in.text);
  return {features_of({rows, in.text}),
          part_of(encoder, in, whole ? rows : Tensor(), cut(in, of_phrase))};
}

}  // namespace fovea
