#include "fovea/model/pair/inputs.h"

#include <algorithm>

#include "fovea/op/index.h"

namespace fovea {
namespace {

Features states(const RecurrentEncoder& encoder, const Sequences& text) {
  return features_of({encoder(text).rows, text});
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
Features part_of(const RecurrentEncoder& encoder, const ModelInputs& in, const Tensor& whole,
                 const Sequences& rows) {
  if (!whole.empty()) return features_of({embedding(whole, rows.ids), rows});
  if (rows.rows() > 0) {
    Tensor ids(rows.ids.shape(), Dtype::i32);
    std::ranges::transform(rows.ids.read<int32_t>(), ids.write<int32_t>().begin(),
                           [&](int32_t i) { return in.text.ids.read<int32_t>()[i]; });
    return states(encoder, Sequences(ids, rows));
  }
  const int64_t B = rows.count();
  return {Tensor::zeros({B, 1, encoder.features()}, encoder.embedding.weight.dtype()),
          Tensor::zeros({B}, Dtype::i32)};
}

}  // namespace

const Fields<PairOptions>& pair_fields() {
  static const Fields<PairOptions> fields(recurrent_fields(), {});
  return fields;
}

const Fields<PairOptions>& phrase_fields() {
  static const Fields<PairOptions> fields(
      recurrent_fields(), {{"whole", &PairOptions::whole,
                            "encode the sentence as a whole, and then cut the phrase out"}});
  return fields;
}

TwoTexts encode_pair(const RecurrentEncoder& encoder, const ModelInputs& in) {
  return {states(encoder, in.text), states(encoder, in.second)};
}

PhraseAndSides encode_phrase(const RecurrentEncoder& encoder, const ModelInputs& in, bool whole) {
  const Tensor rows = whole ? encoder(in.text).rows : Tensor();
  return {part_of(encoder, in, rows, cut(in, of_phrase)),
          part_of(encoder, in, rows, cut(in, of_left)),
          part_of(encoder, in, rows, cut(in, of_right))};
}

TwoTexts encode_sentence_and_phrase(const RecurrentEncoder& encoder, const ModelInputs& in,
                                    bool whole) {
  const Tensor rows = encoder(in.text).rows;
  return {features_of({rows, in.text}),
          part_of(encoder, in, whole ? rows : Tensor(), cut(in, of_phrase))};
}

}  // namespace fovea
