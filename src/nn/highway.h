// Highway layers: Srivastava, Greff, Schmidhuber, "Highway Networks", 2015.
//   y = t o relu(W_H x + b_H) + (1 - t) o x,   t = sigmoid(W_T x + b_T)
#pragma once

#include "fovea/nn/linear.h"
#include "fovea/op/elementwise.h"

namespace fovea {

// The layer with its weights.
struct Highway {
  Linear plain;           // W_H, as wide as the input
  Parameter gate_weight;  // W_T, [width, width]
  Parameter gate_bias;    // b_T, [width]

  // The gates start nearly closed, so that what comes in goes through.
  Highway(Scope s, int64_t width)
      : plain(s / "plain", width, width),
        gate_weight(s.param("gate/weight", {width, width}, init::xavier_uniform())),
        gate_bias(s.param("gate/bias", {width}, init::constant(-1))) {}

  // x [rows, width] gives the same shape.
  Tensor operator()(const Tensor& x) const {
    const std::vector<Tensor> both =
        linears(x, {{plain.weight, plain.bias}, {gate_weight, gate_bias}});
    const Tensor t = sigmoid(both[1]);
    return x + t * (relu(both[0]) - x);
  }
};

}  // namespace fovea
