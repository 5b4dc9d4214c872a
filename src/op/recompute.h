// Memory for time: what a function computes on its way is not kept for the backward pass, which
// runs the function again. Chen, Xu, Zhang, Guestrin, "Training Deep Nets with Sublinear Memory
// Cost", 2016.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fovea/op/tape.h"

namespace fovea {

// f(inputs). Gradients reach the inputs and the parameters given, which must be all that f uses:
// Scope::below() names those of a layer. When it is run again f draws the same random numbers.
Tensor recomputed(std::function<Tensor(std::span<const Tensor>)> f, std::vector<Tensor> inputs,
                  std::span<const Parameter> parameters = {});

}  // namespace fovea
