// Recurrent entity network: Henaff, Weston, Szlam, Bordes, LeCun 2017. Slots with keys w_j; every
// sentence changes those that it concerns:
//   s_t = sum_i f_i o e_i,   g_j = sigmoid(s_t . h_j + s_t . w_j)
//   h~_j = phi(U h_j + V s_t + W w_j),   h_j <- (h_j + g_j h~_j) / |.|
//   p = softmax(q . h_j),   y = R phi(q + H sum_j p_j h_j)
// phi is a rectifier whose slope below 0 is learned and starts at 1. Slots start at their keys. q .
// h_j is the score unless another is named.
#pragma once

#include "fovea/model/memory/look.h"
#include "fovea/model/memory/stories.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct EntityOptions : StoryOptions {
  int64_t slots = 20;  // each with a key of its own
  EntityOptions() { width = 100, memory = 70; }
};
// As options of a run.
const Fields<EntityOptions>& entity_fields();

// The network with its weights; it scores the candidates for an answer.
class EntityNetwork : public Scorer, public SumsLoss {
 public:
  EntityNetwork(Scope s, const ModelSizes& sizes, const EntityOptions& options,
                const AttentionOptions& attention = dot_attention());
  Output operator()(const ModelInputs& in) const override;
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 private:
  Tensor rectified(const Tensor& x, const Parameter& slope) const;

  EntityOptions options_;
  int64_t longest_sentence_;
  WordTable table_;
  Parameter story_mask_, question_mask_;  // f: [places, d]
  Parameter keys_;                        // [slots, d]
  Linear u_, v_, w_, h_;
  Parameter slope_, answer_slope_;  // [d]
  WordTable answers_;
  MemoryLook look_;
  std::string path_;
};

}  // namespace fovea
