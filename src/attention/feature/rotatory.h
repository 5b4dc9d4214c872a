// Rotatory attention over a phrase and what stands left and right of it: Zheng, Xia, "Left-Center-
// Right Separated Neural Network for Aspect-based Sentiment Analysis with Rotatory Attention",
// 2018.
//   r^t = mean(F^t)   r^l = attend(r^t, F^l)   r^r = attend(r^t, F^r)
//   r^lt = attend(r^l, F^t)   r^rt = attend(r^r, F^t)   c = [r^l; r^r; r^lt; r^rt]
// With more hops (Wallaart, Frasincar 2019) it goes round again, with r^lt asking the left and r^rt
// the right side in the place of r^t; the weights are those of the first hop.
#pragma once

#include "fovea/attention/feature/features.h"

namespace fovea {

struct RotatoryOptions : FeatureOptions {
  int64_t hops = 1;  // how often it goes round
};

// A phrase and its two sides give four contexts, in the order of c.
struct RotatoryAttention {
  RotatoryAttention(Scope s, int64_t d_target, int64_t d_context,
                    const RotatoryOptions& options = {});

  FeatureOutput operator()(const Features& target, const Features& left,
                           const Features& right) const;

  int64_t hops;                                          // as the options say
  Pooling left, right, target_by_left, target_by_right;  // of r^l, r^r, r^lt and r^rt
};

}  // namespace fovea
