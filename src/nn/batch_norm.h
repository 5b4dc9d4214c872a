// Features with mean 0 and deviation 1 over a batch, scaled and shifted: Ioffe, Szegedy, "Batch
// Normalization", 2015.
//   training:  y = gamma (x - mean(x)) / sqrt(var(x) + eps) + beta, over all rows of the batch
//   else:      the same with running means of both, which training leaves behind
#pragma once

#include "fovea/nn/scope.h"
#include "fovea/op/batch_norm.h"
#include "fovea/op/tape.h"

namespace fovea {

// The running mean and variance are frozen parameters: saved, loaded and averaged with the others,
// but no optimiser steps them and they have no gradient.
struct BatchNorm {
  Parameter gamma, beta;     // [width]
  Parameter mean, variance;  // [width]: running
  double eps, momentum;      // added to the variance; how much of a running mean each batch becomes

  BatchNorm(Scope s, int64_t width, double added = 1e-5, double taken = 0.1)
      : gamma(s.param("gamma", {width}, init::ones())),
        beta(s.param("beta", {width}, init::zeros())),
        mean(s.param("mean", {width}, init::zeros())),
        variance(s.param("variance", {width}, init::ones())),
        eps(added),
        momentum(taken) {
    mean.freeze(), variance.freeze();
  }

  // x [..., width]. With `then_relu` max(y, 0). Whether it trains is the tape's to say; while it
  // does, the running statistics move.
  Tensor operator()(const Tensor& x, bool then_relu = false) const {
    const BatchNormOptions options{.eps = eps, .relu = then_relu};
    if (!Tape::random()) return batch_norm(x, gamma, beta, {mean, variance}, options);
    BatchStatistics seen;
    Tensor y = batch_norm(x, gamma, beta, options, &seen);
    // PyTorch's: the running variance is that of the population, n / (n - 1) of the batch's.
    mean = blended(mean, seen.mean, momentum);
    variance = blended(variance, seen.unbiased, momentum);
    return y;
  }
};

}  // namespace fovea
