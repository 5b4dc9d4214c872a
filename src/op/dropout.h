#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// While this thread trains (Tape::random()): each element is zero with probability p, else divided
// by 1 - p. Otherwise x.
Tensor dropout(const Tensor& x, double p);

}  // namespace fovea
