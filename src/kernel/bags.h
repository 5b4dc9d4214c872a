// Bags of words: sums of rows of a table, each times a weight for its place.
#pragma once

#include "fovea/kernel/naive/bags.h"

namespace fovea::kernel {

using naive::Bags;

// y [bags, d]
void sum_bags(float* y, const Bags<float>& b);
void sum_bags_grad(float* dtable, float* dweights, const float* dy, const Bags<float>& b);
using naive::sum_bags;
using naive::sum_bags_grad;

}  // namespace fovea::kernel
