// Alternating co-attention, each input in turn: Lu, Yang, Batra, Parikh, "Hierarchical
// Question-Image Co-Attention for Visual Question Answering", 2016.
//   c^0 = attend(q_0, F^1)   c^2 = attend(c^0, F^2)   c^1 = attend(c^2, F^1)   c = [c^1; c^2]
// The first and the last step share their weights. The paper's first step has no query: in its
// additive score a learned q_0, which every other score needs, is one more bias.
#pragma once

#include "fovea/attention/feature/features.h"

namespace fovea {

struct AlternatingCoAttention {
  AlternatingCoAttention(Scope s, int64_t d_1, int64_t d_2, const FeatureOptions& options = {});

  FeatureOutput operator()(const Features& f_1, const Features& f_2) const;

  Parameter start;        // q_0 [d_2]
  Pooling first, second;  // of F^1, at the first and the last step, and of F^2
};

}  // namespace fovea
