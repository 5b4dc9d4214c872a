// Multi-grained co-attention, coarse and fine at once: Fan, Feng, Zhao, "Multi-grained Attention
// Network for Aspect-Level Sentiment Classification", 2018.
//   coarse:  each input asked with the mean of the other (interactive.h)
//   fine:    A_ij = w . [f_i^1; f_j^2; f_i^1 o f_j^2]   e_i^1 = max_j A_ij   e_j^2 = max_i A_ij
//   c = [coarse^1; coarse^2; fine^1; fine^2]
#pragma once

#include "fovea/attention/feature/interactive.h"
#include "fovea/attention/feature/parallel.h"

namespace fovea {

struct MultiGrainedOptions : FeatureOptions {
  ScoreFactory affinity{};  // of the fine half; null: trilinear, as the paper has it
};

// Two inputs give four contexts, in the order of c.
struct MultiGrainedCoAttention {
  MultiGrainedCoAttention(Scope s, int64_t d_1, int64_t d_2,
                          const MultiGrainedOptions& options = {});

  FeatureOutput operator()(const Features& f_1, const Features& f_2) const;

  InteractiveCoAttention coarse;  // a mean asks
  ParallelCoAttention fine;       // every row asks, pooled
};

}  // namespace fovea
