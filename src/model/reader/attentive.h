// Two readers that pool the passage by attention once.
//   Attentive reader: Hermann et al., "Teaching Machines to Read and Comprehend", 2015
//     m_t = tanh(W_ym y_t + W_um u),  s_t = softmax_t(w . m_t),  r = sum_t s_t y_t
//     g = tanh(W_rg r + W_ug u),  P(a) = softmax_a(W_a . g)
//   Stanford's: Chen, Bolton, Manning, "A Thorough Examination of the CNN/Daily Mail Reading
//   Comprehension Task", 2016
//     a_t = softmax_t(q W_s p_t),  o = sum_t a_t p_t,  P(a) = softmax_a(W_a . o)
#pragma once

#include <optional>

#include "fovea/model/named_attention.h"
#include "fovea/model/reader/cloze_reader.h"
#include "fovea/nn/linear.h"

namespace fovea {

class AttentiveReader : public ClozeReader {
 public:
  // `joint`: what was read joins the question in a layer before the answer, as in the first.
  AttentiveReader(Scope s, const ModelSizes& sizes, const ReaderOptions& options,
                  const AttentionOptions& attention, bool joint);
  Output operator()(const ModelInputs& in) const override;

 private:
  NamedAttention attention_;
  std::optional<Linear> joint_;  // [W_rg W_ug]
  Embedding answers_;            // W_a
};

}  // namespace fovea
