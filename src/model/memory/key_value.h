// Key-value memory network: Miller, Fisch, Dodge, Karimi, Bordes, Weston 2016.
//   p_h = softmax(A x . A k_h),   o = sum_h p_h A v_h,   q <- R_j (q + o),   B y . q answers
// A x . A k_h is the score unless another is named. Which memories a question comes with is the
// data's to say. A and B are one table.
#pragma once

#include "fovea/model/memory/look.h"
#include "fovea/model/memory/stories.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct KeyValueOptions : StoryOptions {
  int64_t hops = 2;  // looks at the memory, one after the other
  bool keys = true;  // else key and value together are both, as in a memory network
};
// As options of a run.
const Fields<KeyValueOptions>& key_value_fields();

// The network with its weights; it scores the candidates for an answer.
class KeyValueMemory : public Scorer {
 public:
  KeyValueMemory(Scope s, const ModelSizes& sizes, const KeyValueOptions& options,
                 const AttentionOptions& attention = dot_attention());
  Output operator()(const ModelInputs& in) const override;

 private:
  KeyValueOptions options_;
  int64_t longest_sentence_;
  WordTable table_;
  std::vector<Linear> turns_;  // R_j
  MemoryLook look_;
};

}  // namespace fovea
