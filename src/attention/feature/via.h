// Attention-via-attention, letters seen through the words they stand in: Zhao, Zhang,
// "Attention-via-Attention Neural Machine Translation", 2018.
//   c^w_i = attend(q_i, F^w)   c^c_i = attend(W [q_i; c^w_i], F^c)   c_i = [c^w_i; c^c_i]
// F^w are the rows of the coarser level (words), F^c those of the finer one (letters). W makes the
// second query as wide as letters are, which scores other than the paper's additive one need.
#pragma once

#include "fovea/attention/feature/features.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct ViaAttention {
  ViaAttention(Scope s, int64_t d_q, int64_t d_words, int64_t d_letters,
               const FeatureOptions& options = {});

  // What a call gives.
  struct Output {
    Tensor words, letters;     // [B, Tq, d_words], [B, Tq, d_letters]
    Tensor log_probability{};  // [B, Tq]: of all that was drawn; empty where nothing was
  };
  // Queries q [B, Tq, d_q], any number of them; `step`: all stand at this place; -1: they are a
  // whole sequence.
  Output operator()(const Tensor& q, const Features& words, const Features& letters,
                    int64_t step = -1) const;

  Linear query;                          // W
  Score score_words, score_letters;      // of a query with the rows of each level
  Alignment align_words, align_letters;  // over the rows of each level
  std::string name;                      // its path; maps are name/words and name/letters
};

}  // namespace fovea
