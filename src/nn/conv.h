// Convolution layers: y = x * W + b over sequences [B, T, C] and images [B, H, W, C].
#pragma once

#include "fovea/nn/linear.h"
#include "fovea/nn/scope.h"
#include "fovea/op/conv.h"

namespace fovea {

// How many input channels each output sees, in / groups; an Error, in the layer's name, unless the
// groups divide both.
inline int64_t channels_in_group(const char* layer, int64_t in, int64_t out, int64_t groups) {
  check(groups >= 1 && in % groups == 0 && out % groups == 0, layer, ": ", groups,
        " groups do not divide ", in, " input and ", out, " output channels");
  return in / groups;
}

// Conv1d(s / "conv", 128, 128, 5, {.padding = 2})
struct Conv1d {
  Parameter weight;       // [out, kernel, in / groups]
  Parameter bias;         // [out], or empty
  Conv1dOptions options;  // as it was made

  // The layer's weights are drawn as `made` says.
  Conv1d(Scope s, int64_t in, int64_t out, int64_t kernel, const Conv1dOptions& how = {},
         const LinearOptions& made = {})
      : weight(s.param("weight", {out, kernel, channels_in_group("Conv1d", in, out, how.groups)},
                       made.init)),
        bias(made.bias ? s.param("bias", {out}, init::zeros()) : Parameter()),
        options(how) {}

  Tensor operator()(const Tensor& x) const { return conv1d(x, weight, bias, options); }
};

// Conv2d(s / "conv", 3, 64, {7, 5}, {.stride = 2, .padding = {3, 2}})
struct Conv2d {
  Parameter weight;       // [out, height, width, in / groups]
  Parameter bias;         // [out], or empty
  Conv2dOptions options;  // as it was made

  // The layer's weights are drawn as `made` says.
  Conv2d(Scope s, int64_t in, int64_t out, HeightWidth kernel, const Conv2dOptions& how = {},
         const LinearOptions& made = {})
      : weight(s.param(
            "weight",
            {out, kernel.height, kernel.width, channels_in_group("Conv2d", in, out, how.groups)},
            made.init)),
        bias(made.bias ? s.param("bias", {out}, init::zeros()) : Parameter()),
        options(how) {}

  Tensor operator()(const Tensor& x) const { return conv2d(x, weight, bias, options); }
};

}  // namespace fovea
