// Random features: Choromanski et al., "Rethinking Attention with Performers", 2021 (FAVOR+).
//   phi(x) = m^-1/2 exp(w_i . x - |x|^2 / 2),   E phi(x) . phi(y) = exp(x . y),   x = q / d^1/4
// with w_i Gaussian and orthogonal in groups of d; then linear attention over phi. Cost n m d.
#pragma once

#include "fovea/attention/efficient/self_attention.h"
#include "fovea/base/random.h"

namespace fovea {

struct RandomFeatureOptions {
  int64_t kernel_features = 256;  // m
  bool redraw = false;            // w is drawn again at every step of training
};

// w [m, d]: rows as long as those of Gaussians, at right angles within groups of d.
Tensor orthogonal_gaussian(Random& random, int64_t m, int64_t d);
// phi(x) of x [..., d] without the factor d^-1/4: [..., m]. `less` [..., 1 or m] is taken from the
// exponent where it is given: a factor that cancels.
Tensor positive_features(const Tensor& x, const Tensor& w, const Tensor& less = {});

// The mechanism; unless it is drawn while training, w follows from `seed`.
SelfAttention random_feature_self_attention(uint64_t seed, int64_t d_head,
                                            const RandomFeatureOptions& options);

}  // namespace fovea
