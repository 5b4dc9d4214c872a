#include "fovea/model/reader/plain.h"

namespace fovea {

PlainReader::PlainReader(Scope s, const ModelSizes& sizes, const ReaderOptions& o)
    : ClozeReader(s, sizes, o), answers_(s / "answers", sizes.vocabulary, features()) {}

Scorer::Output PlainReader::operator()(const ModelInputs& in) const {
  const ReaderWords::Output x = words_(in);
  const auto passage = passage_({.x = x.passage, .offsets = in.text.offsets});
  // The question goes on from where the passage ended.
  const auto both =
      question_({.x = x.question, .offsets = in.question.offsets, .start = passage.last});
  const Tensor h = last_states(both.last, words_.options.bidirectional);
  return {table_scores(answers_, dropout(h, words_.options.dropout), in.candidates)};
}

}  // namespace fovea
