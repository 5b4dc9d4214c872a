// What readers of clozes share: a passage, a question with a blank, and candidates for it.
// ModelInputs: text, question, candidates [B, C] (ids of words, -1 where there are fewer), and in
// `sparse` a row for each of B C candidates with the rows of the text that name it.
#pragma once

#include "fovea/model/model.h"
#include "fovea/model/reader/words.h"

namespace fovea {

// A passage whose every word has a state, and a question that is one vector.
struct ReadStates {
  Tensor passage;   // [rows, features]
  Tensor question;  // [question rows, features]
  Tensor asked;     // [B, features]: what both directions held at the end of the question
};

// Recurrent layers over either text; how a candidate is chosen is for each reader to say.
class ClozeReader : public Scorer {
 public:
  // Smoothing is over the candidates that there are.
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 protected:
  // Paths: encoder/..., passage/..., question/...
  ClozeReader(Scope s, const ModelSizes& sizes, const ReaderOptions& options);

  // Both texts through their layers, and how wide a state is.
  ReadStates read(const ModelInputs& in) const;
  int64_t features() const { return words_.options.width * passage_.directions(); }

  ReaderWords words_;             // of both texts
  Recurrent passage_, question_;  // the layers over each text
};

// Scores of candidates that come from a table of answers, a row a word, for g [B, width]: [B, C],
// and -inf where there is none.
Tensor table_scores(const Embedding& answers, const Tensor& g, const Tensor& candidates);
// int32, as the candidates: whether there is one.
Tensor is_candidate(const Tensor& candidates);

}  // namespace fovea
