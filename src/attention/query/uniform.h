// The mean of the values that a pattern lets one see.
#pragma once

#include "fovea/attention/engine.h"

namespace fovea {

// [B, Tq, H, Dv]: each query's mean of its values. Queries of zeros find all keys equally good.
inline Tensor mean_of_values(const Tensor& k, const Tensor& v, const Pattern& who, int64_t Tq,
                             int64_t H) {
  const Tensor nothing = Tensor::zeros({k.dim(0), Tq, H, k.dim(3)}, k.dtype());
  return attend_unrecorded({.q = nothing, .k = k, .v = v, .who = who}, dot_score()).context;
}

}  // namespace fovea
