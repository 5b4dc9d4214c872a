// Impatient reader: Hermann et al., "Teaching Machines to Read and Comprehend", 2015. The passage
// is read again at every word of the question.
//   m_it = tanh(W_dm y_t + W_rm r_{i-1} + W_qm q_i),   s_i = softmax_t(w . m_it)
//   r_i = sum_t s_it y_t + tanh(W_rr r_{i-1}),   g = tanh(W_rg r_n + W_qg u)
#pragma once

#include "fovea/model/reader/cloze_reader.h"
#include "fovea/nn/linear.h"

namespace fovea {

class ImpatientReader : public ClozeReader {
 public:
  ImpatientReader(Scope s, const ModelSizes& sizes, const ReaderOptions& options,
                  int64_t score_width);
  Output operator()(const ModelInputs& in) const override;

 private:
  Linear passage_key_, read_key_, question_key_;  // W_dm, W_rm, W_qm
  Parameter w_;
  Parameter start_;  // r_0
  Linear kept_;      // W_rr
  Linear joint_;     // [W_rg W_qg]
  Embedding answers_;
  std::string name_;
};

}  // namespace fovea
