// Memory for time: what a function computes on its way is not kept for the backward pass, which
// runs the function again. Chen, Xu, Zhang, Guestrin, "Training Deep Nets with Sublinear Memory
// Cost", 2016.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "fovea/op/tape.h"

namespace fovea {

// f(inputs). Gradients reach the inputs alone, so parameters that f uses must be among them; and f
// must give the same result when called again.
Tensor recomputed(std::function<Tensor(std::span<const Tensor>)> f, std::vector<Tensor> inputs);

}  // namespace fovea
