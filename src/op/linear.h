// Products with weights, alone and as the position-wise part of a Transformer block.
#pragma once

#include <vector>

#include "fovea/kernel/unary.h"
#include "fovea/op/tape.h"

namespace fovea {

// x [..., C_in] W^T [C_in, C_out] + bias [C_out]; W is [C_out, C_in], the bias may be empty.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

// The same, added up and given in float64: for a number that will be scaled up, where float32 would
// have rounded it. x may be either, the weights are parameters as ever; gradients are of each one's
// own type.
Tensor precise_linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

// The same x with several weights: what linear gives for each of them, in one go.
struct LinearWeights {
  Tensor weight, bias;  // [C_out, C_in], and [C_out] or empty
};
// One result for each weight, in their order: [..., C_out].
std::vector<Tensor> linears(const Tensor& x, std::vector<LinearWeights> weights);

// residual + dropout(linear(dropout(f(linear(x))))) with f one of relu, gelu and gelu_tanh. What
// goes element by element is done to the rows of a product while they are at hand. Unless
// this thread trains nothing is dropped.
struct FeedForwardWeights {
  const Tensor &inner, &inner_bias;  // [hidden, C], [hidden] or empty
  const Tensor &outer, &outer_bias;  // [C, hidden], [C] or empty
};
// p is the chance of an element to be dropped, of the hidden layer and of the result.
Tensor feed_forward(const Tensor& residual, const Tensor& x, const FeedForwardWeights& weights,
                    kernel::Unary f, double p);

}  // namespace fovea
