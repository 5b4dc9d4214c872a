// What models that give every token a label share: the last layer. Each label may be chosen by
// itself, or all of a sequence together by a conditional random field over the scores (Huang, Xu,
// Yu, "Bidirectional LSTM-CRF Models for Sequence Tagging", 2015; Lample et al. 2016).
#pragma once

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/scope.h"

namespace fovea {

struct TagOutputOptions {
  std::string output = "softmax";  // softmax: each label by itself; crf: all together
};
// As options of a run.
const Fields<TagOutputOptions>& tag_output_fields();

// A model of tokens whose scores go through that layer.
class Tagger : public Scorer {
 public:
  // With a field: p(y) ~ exp(sum_t s_t[y_t] + A[y_(t-1), y_t]); answers are the likeliest path.
  Answer answer(const ModelInputs& in) const override;
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 protected:
  Tagger(Scope s, int64_t labels, const TagOutputOptions& options);

  Parameter transitions_;  // [labels + 1, labels], the last row where a sequence begins; or none
};

}  // namespace fovea
