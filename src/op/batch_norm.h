// Batch normalisation over the last axis: each feature by its mean and variance over all rows.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

struct BatchNormOptions {
  double eps = 1e-5;  // added to the variance
  bool relu = false;  // max(y, 0) follows: one pass instead of two
};

// Of each feature over the rows of a batch; not on the tape.
struct BatchStatistics {
  Tensor mean{}, variance{};  // [C]; the variance is divided by the number of rows,
  Tensor unbiased{};          // and here by one less, where there are several
};

// y = gamma (x - mean) / sqrt(variance + eps) + beta for x [..., C], gamma and beta [C], with mean
// and variance of x itself: the form of training. Needs at least one row. `seen` gets them.
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                  const BatchNormOptions& options = {}, BatchStatistics* seen = nullptr);

// Mean and variance that take the place of a batch's own.
struct FixedStatistics {
  const Tensor &mean, &variance;  // [C]
};
// The same with given mean and variance, which are constants: the form of inference.
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                  const FixedStatistics& fixed, const BatchNormOptions& options = {});

// (1 - part) a + part b, without a tape: a running mean that goes on.
Tensor blended(const Tensor& a, const Tensor& b, double part);

}  // namespace fovea
