// Rows with mean 0 and deviation 1, scaled and shifted: Ba, Kiros, Hinton, "Layer Normalization",
// 2016.
#pragma once

#include "fovea/nn/scope.h"
#include "fovea/op/norm.h"

namespace fovea {

struct LayerNorm {
  Parameter gamma, beta;  // [width]
  double eps;             // added to the variance

  LayerNorm(Scope s, int64_t width, double added = 1e-5)
      : gamma(s.param("gamma", {width}, init::ones())),
        beta(s.param("beta", {width}, init::zeros())),
        eps(added) {}

  Tensor operator()(const Tensor& x) const { return layer_norm(x, gamma, beta, eps); }
};

}  // namespace fovea
