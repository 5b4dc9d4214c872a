// What readers with attention are compared with: recurrent layers over the passage and then the
// question, whose last state answers (the Deep LSTM reader of Hermann et al. 2015).
//   P(a) = softmax_a(W_a . h),   h = rnn(passage, question)
#pragma once

#include "fovea/model/reader/cloze_reader.h"

namespace fovea {

class PlainReader : public ClozeReader {
 public:
  PlainReader(Scope s, const ModelSizes& sizes, const ReaderOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  Embedding answers_;
};

}  // namespace fovea
