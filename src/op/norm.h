// Layer normalisation over the last axis.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// (x - mean) / sqrt(variance + eps) * gamma + beta, with the biased variance.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps = 1e-5);

}  // namespace fovea
