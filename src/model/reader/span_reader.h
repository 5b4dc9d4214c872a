// What readers share whose answer is a part of the passage: scores of where it begins and ends, and
// of there being none.
#pragma once

#include "fovea/model/model.h"

namespace fovea {

class SpanReader : public Network {
 public:
  // What a call gives. Column 0 stands for no answer, column 1 + t for word t of the passage; what
  // is not there (behind a passage's end, or no answer where all questions have one) is -inf.
  struct Output {
    Tensor start, end;  // [B, 1 + longest]
  };
  virtual Output operator()(const ModelInputs& in) const = 0;

  // The mean over examples of what first and last word cost. targets: int32 [B, 2], columns as
  // above.
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const;
};

// ModelSizes::labels of a reader of spans: questions have an answer, or some have none.
inline constexpr int64_t always_answered = 1, may_be_unanswered = 2;

// Scores [rows, 1] of packed words as the columns above; `nothing` [B, 1] is of no answer, or
// empty.
Tensor span_scores(const Tensor& words, const Packing& passage, const Tensor& nothing);

}  // namespace fovea
