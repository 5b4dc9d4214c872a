#pragma once

#include "fovea/base/random.h"
#include "fovea/op/tape.h"

namespace fovea {

// While a tape lives: each element is zero with probability p, else divided by 1 - p. Otherwise x,
// and nothing is drawn from `random`.
Tensor dropout(const Tensor& x, double p, Random& random);

}  // namespace fovea
