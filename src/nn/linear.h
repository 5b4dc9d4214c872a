// y = x W^T + b
#pragma once

#include "fovea/nn/scope.h"
#include "fovea/op/linear.h"

namespace fovea {

struct LinearOptions {
  bool bias = true;                    // false: y = x W^T
  Init init = init::xavier_uniform();  // of the weight; the bias starts at 0
};

// The layer: x [..., in] gives [..., out].
struct Linear {
  Parameter weight;  // [out, in]
  Parameter bias;    // [out], or empty

  Linear() = default;  // none: it cannot be called
  Linear(Scope s, int64_t in, int64_t out, const LinearOptions& options = {})
      : weight(s.param("weight", {out, in}, options.init)),
        bias(options.bias ? s.param("bias", {out}, init::zeros()) : Parameter()) {}

  Tensor operator()(const Tensor& x) const { return linear(x, weight, bias); }
};

}  // namespace fovea
