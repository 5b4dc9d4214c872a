// Nadaraya-Watson kernel pooling: Nadaraya 1964, Watson 1964. A prediction is the mean of the known
// targets, weighted by how near their keys are:
//   a_j = softmax_j(-|(q - k_j) w|^2 / 2),   f(q) = sum_j a_j v_j
// With w given it has nothing to learn; with w learned it is the simplest attention that trains.
#pragma once

#include "fovea/nn/scope.h"

namespace fovea {

struct KernelPooling {
  const Tensor& w;  // [features]: one over the width of the kernel, for each feature

  KernelPooling(Scope s, int64_t features, double w = 1)
      : w(s.param("w", {features}, init::constant(w))) {}

  // Weights [n_q, n_k] of keys [n_k, features] for queries [n_q, features].
  Tensor weights(const Tensor& queries, const Tensor& keys) const;
  // The same among the examples themselves, none looking at itself: what training uses.
  Tensor weights_of_others(const Tensor& keys) const;
};

}  // namespace fovea
