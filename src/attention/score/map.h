// A score's last function as ops: the plain definition of what kernels do to a tile.
#pragma once

#include "fovea/attention/contract.h"

namespace fovea {

// map(s), element by element; of a distance, which is no function of s, an Error.
Tensor apply(ScoreMap map, const Tensor& s);
// tanh, sigmoid, relu or leaky_relu; another name is an Error that suggests the nearest.
ScoreMap score_map(const std::string& name);

}  // namespace fovea
