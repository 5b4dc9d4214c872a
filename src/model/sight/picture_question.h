// Questions about a picture: Lu, Yang, Batra, Parikh, "Hierarchical Question-Image Co-Attention for
// Visual Question Answering", 2016. Words q and regions V of equal width d; at each level of the
// question (words; phrases: the largest of convolutions over one, two and three words; the
// question: states of an LSTM over phrases) both are looked at in the light of the other:
//   q^, v^ = co-attention(Q, V)         parallel or alternating (attention/feature)
//   h^w = tanh(W_w (q^w + v^w)),   h^p = tanh(W_p [q^p + v^p; h^w]),   h^s = tanh(W_s [q^s + v^s;
//   h^p]),   y = W h^s + b
// Baselines: `mean` takes the means of both instead, `question` that of the question alone.
#pragma once

#include <optional>

#include "fovea/attention/catalog.h"
#include "fovea/model/sight/regions.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

struct PictureQuestionOptions : RegionOptions {
  int64_t width = 128;  // d
  int64_t levels = 3;   // of the question: 1: states, 2: and phrases, 3: and words
  double dropout = 0;   // of words, regions and what is made of them
};
// All of them, as options of a run; those of the question alone.
const Fields<PictureQuestionOptions>& picture_question_fields();

// The model; `mechanism`: parallel, alternating, mean, question.
class PictureQuestionModel : public Scorer, public LooksAtRegions {
 public:
  PictureQuestionModel(Scope s, const std::string& mechanism, const ModelSizes& sizes,
                       const PictureQuestionOptions& options, AttentionOptions attention);

  // Of ModelInputs::pictures and ModelInputs::question.
  Output operator()(const ModelInputs& in) const override;
  int64_t region_rows() const override { return regions_ ? regions_->net.rows() : 0; }
  int64_t region_columns() const override { return regions_ ? regions_->net.columns() : 0; }

 private:
  PictureQuestionOptions options_;
  std::optional<RegionEncoder> regions_;  // none where only the question counts
  std::optional<Linear> region_in_;       // to d
  Embedding embedding_;
  Conv1d one_, two_, three_;
  Recurrent sentence_;
  std::vector<FeatureMechanism> attention_;  // a level each; none for baselines
  std::vector<Linear> join_;                 // W_w, W_p, W_s
  Linear output_;
};

}  // namespace fovea
