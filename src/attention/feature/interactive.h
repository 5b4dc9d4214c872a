// Interactive co-attention, each input asked with the mean of the other: Ma, Li, Zhang, Wang,
// "Interactive Attention Networks for Aspect-Level Sentiment Classification", 2017.
//   e_l^1 = score(mean(F^2), f_l^1)   e_l^2 = score(mean(F^1), f_l^2)   c = [c^1; c^2]
#pragma once

#include "fovea/attention/feature/features.h"

namespace fovea {

struct InteractiveCoAttention {
  InteractiveCoAttention(Scope s, int64_t d_1, int64_t d_2, const FeatureOptions& options = {})
      : first(s / "first", d_2, d_1, options), second(s / "second", d_1, d_2, options) {}

  FeatureOutput operator()(const Features& f_1, const Features& f_2) const {
    FeatureOutput out;
    const Tensor c_1 = first(mean_of(f_2), f_1, out), c_2 = second(mean_of(f_1), f_2, out);
    out.contexts = {c_1, c_2};
    return out;
  }

  Pooling first, second;  // of F^1 and of F^2
};

}  // namespace fovea
