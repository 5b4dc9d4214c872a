// Attention-sum reader: Kadlec, Schmid, Bajgar, Kleindienst, "Text Understanding with the Attention
// Sum Reader Network", 2016.
//   s_i = softmax_i(f_i(d) . g(q)),   P(a | q, d) = sum of s_i over the places i that name a
// The answer is made of the weights themselves.
#pragma once

#include "fovea/model/named_attention.h"
#include "fovea/model/reader/cloze_reader.h"

namespace fovea {

class AttentionSumReader : public ClozeReader {
 public:
  AttentionSumReader(Scope s, const ModelSizes& sizes, const ReaderOptions& options,
                     const AttentionOptions& attention);
  // The scores are log P.
  Output operator()(const ModelInputs& in) const override;

 private:
  NamedAttention attention_;
};

}  // namespace fovea
