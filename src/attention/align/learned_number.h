// A learned number for each vector, w^T tanh(W x + b): where a local window stands, whether a key
// is kept.
#pragma once

#include "fovea/nn/linear.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

// x [B, T, H, D] -> [B, T, H]
struct LearnedNumber {
  Linear inner, outer;  // W and b; w
  LearnedNumber(Scope s, int64_t d)
      : inner(s / "inner", d, d), outer(s / "outer", d, 1, {.bias = false}) {}

  // linear, or precise_linear where the number is to be exact.
  using Product = Tensor (*)(const Tensor& x, const Tensor& weight, const Tensor& bias);
  Tensor operator()(const Tensor& x, Product product = linear) const {
    const Tensor h = tanh(product(x, inner.weight, inner.bias));
    return reshape(product(h, outer.weight, {}), {x.dim(0), x.dim(1), x.dim(2)});
  }
};

}  // namespace fovea
