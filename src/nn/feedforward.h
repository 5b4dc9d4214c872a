// Two linear layers with an activation between: the position-wise part of a Transformer block.
#pragma once

#include "fovea/nn/linear.h"
#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"

namespace fovea {

struct FeedForward {
  using Activation = Tensor (*)(const Tensor&);  // relu, gelu, gelu_tanh, tanh, ...
  Linear inner, outer;                           // width to hidden, and back
  Activation activation;                         // of the hidden layer, element by element

  FeedForward(Scope s, int64_t width, int64_t hidden, Activation act = relu)
      : inner(s / "inner", width, hidden), outer(s / "outer", hidden, width), activation(act) {}

  // p: of the hidden layer, dropped while this thread trains.
  Tensor operator()(const Tensor& x, double p = 0) const {
    return outer(dropout(activation(inner(x)), p));
  }
};

}  // namespace fovea
