// End-to-end memory network: Sukhbaatar, Szlam, Weston, Fergus 2015.
//   m_i = sum_j l_j o A x_ij + T_A(i),   c_i = sum_j l_j o C x_ij + T_C(i),   u = sum_j l_j o B q_j
//   o = sum_i softmax(u . m_i) c_i,   u <- u + o (adjacent) or H u + o (layer-wise),   W u answers
// Tied adjacently, A of a hop is C of the one before, B is the first A and W the last C; layer-wise
// all hops share A and C. u . m_i is the score unless another is named. As in the authors' program
// a time is a word of its sentence, and the loss is summed over the batch. Linear start: in the
// first epochs scores are weights as they are, without softmax. Noise: up to a tenth of further
// times lies between the sentences while it trains.
#pragma once

#include <optional>

#include "fovea/model/memory/look.h"
#include "fovea/model/memory/stories.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct EndToEndOptions : StoryOptions {
  int64_t hops = 3;                // looks at the memory, one after the other
  std::string tying = "adjacent";  // adjacent, layerwise
  bool times = true;               // sentences know how old they are
  bool empty = true;               // slots that hold nothing can be looked at, as in the authors'
                                   // program: to find that there is nothing
  int64_t linear_start = 0;        // epochs in which scores themselves are the weights
  double noise = 0.1;              // of times
};
// As options of a run.
const Fields<EndToEndOptions>& end_to_end_fields();

// The network with its weights; it scores the candidates for an answer.
class EndToEndMemory : public Scorer, public SumsLoss {
 public:
  EndToEndMemory(Scope s, const ModelSizes& sizes, const EndToEndOptions& options,
                 const AttentionOptions& attention = dot_attention());
  Output operator()(const ModelInputs& in) const override;
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 private:
  EndToEndOptions options_;
  int64_t longest_sentence_, first_time_, times_;
  std::vector<WordTable> tables_;  // adjacent: one more than hops; layer-wise: A, C, B, W
  std::optional<Linear> map_;      // layer-wise: H
  MemoryLook look_;
};

}  // namespace fovea
