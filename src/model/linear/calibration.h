// How sure scores should be: the factor that makes softmax(factor * scores) likeliest on examples
// that were not learned from (Guo, Pleiss, Sun, Weinberger, "On Calibration of Modern Neural
// Networks", 2017).
#pragma once

#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

// Mean of -log softmax(sum_k factors[k] scores[k]) at the targets; scores [n, classes] each,
// targets int32 [n], of which negative ones are not counted.
double mean_surprise(const std::vector<Tensor>& scores, const std::vector<double>& factors,
                     const Tensor& targets);

// The factor of a single one, between 1/64 and 64.
double best_factor(const Tensor& scores, const Tensor& targets);

// The part of the rows whose greatest score is the target's.
double share_right(const Tensor& scores, const Tensor& targets);

}  // namespace fovea
