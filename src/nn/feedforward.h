// Two linear layers with an activation between: the position-wise part of a Transformer block.
#pragma once

#include "fovea/nn/linear.h"
#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"

namespace fovea {

enum class Activation { relu, gelu, gelu_tanh, tanh };

inline Tensor activate(Activation f, const Tensor& x) {
  switch (f) {
    case Activation::relu:
      return relu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::tanh:
      return tanh(x);
  }
  return x;
}

struct FeedForward {
  Linear inner, outer;
  Activation activation;

  FeedForward(Scope s, int64_t width, int64_t hidden, Activation activation = Activation::relu)
      : inner(s / "inner", width, hidden),
        outer(s / "outer", hidden, width),
        activation(activation) {}

  Tensor operator()(const Tensor& x) const { return outer(activate(activation, inner(x))); }
  // With dropout on the hidden layer, while a tape lives.
  Tensor operator()(const Tensor& x, double p, Random& random) const {
    return outer(dropout(activate(activation, inner(x)), p, random));
  }
};

}  // namespace fovea
