#include "fovea/model/reader/impatient.h"

#include "fovea/attention/engine.h"

namespace fovea {
namespace {

// Queries and keys that have been through their weights already.
Score additive_of(const Parameter& w) {
  return [w](const Heads& q, const Heads& k) { return ScoreForm{q, k, 1, ScoreMap::tanh, w}; };
}

// Of every question whether it has a word i: int32 [B, 1].
Tensor has_word(const Sequences& question, int64_t i) {
  const Tensor n = question.lengths();
  Tensor mask({question.count(), 1}, Dtype::i32);
  for (size_t b = 0; b < static_cast<size_t>(question.count()); ++b) {
    mask.write<int32_t>()[b] = n.read<int32_t>()[b] > i;
  }
  return mask;
}

}  // namespace

ImpatientReader::ImpatientReader(Scope s, const ModelSizes& sizes, const ReaderOptions& o,
                                 int64_t score_width)
    : ClozeReader(s, sizes, o),
      passage_key_(s / "attention" / "passage", features(), score_width),
      read_key_(s / "attention" / "read", features(), score_width, {.bias = false}),
      question_key_(s / "attention" / "question", features(), score_width, {.bias = false}),
      w_((s / "attention").param("w", {score_width}, init::xavier_uniform())),
      start_(s.param("start", {features()}, init::normal(0.1))),
      kept_(s / "kept", features(), features(), {.bias = false}),
      joint_(s / "joint", 2 * features(), features()),
      answers_(s / "answers", sizes.vocabulary, features()),
      name_((s / "attention").path()) {}

Scorer::Output ImpatientReader::operator()(const ModelInputs& in) const {
  const ReadStates states = read(in);
  const int64_t B = in.text.count(), d = features(), T = in.text.longest;
  const Tensor y = unpack(states.passage, in.text.offsets, T),
               q = unpack(question_key_(states.question), in.question.offsets,
                          in.question.longest);  // [B, J, score width]
  AttentionInputs look;
  const Tensor keys = passage_key_(y);
  const int64_t width = keys.dim(2);
  look.k = reshape(keys, {B, T, 1, width});
  look.v = reshape(y, {B, T, 1, d});
  look.who = lengths(in.text.lengths());
  look.name = name_;
  Tensor r = broadcast_to(reshape(start_, {1, d}), {B, d});
  for (int64_t i = 0; i < in.question.longest; ++i) {
    const Tensor word = reshape(slice(q, 1, i, i + 1), {B, width});
    look.q = reshape(word + read_key_(r), {B, 1, 1, width});
    const Tensor now = reshape(attend(look, additive_of(w_)).context, {B, d}) + tanh(kept_(r));
    // Behind the end of a question nothing changes.
    const Tensor here = has_word(in.question, i);
    r = r + where(here, now - r, 0);
  }
  const Tensor g = tanh(joint_(concat({r, states.asked}, -1)));
  return {table_scores(answers_, dropout(g, words_.options.dropout), in.candidates)};
}

}  // namespace fovea
