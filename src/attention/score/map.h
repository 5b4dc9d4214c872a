// A score's last function as ops: the plain definition of what kernels do to a tile.
#pragma once

#include "fovea/attention/contract.h"

namespace fovea {

Tensor apply(ScoreMap map, const Tensor& s);

}  // namespace fovea
