// Convolution of sequences [B, T, C] and images [B, H, W, C]. Features come last as everywhere
// else, and in the weights too, so that a kernel of width 1 has the numbers of a Linear in the same
// order. PyTorch's weight [out, in / groups, kh, kw] becomes ours by permute(0, 2, 3, 1).
#pragma once

#include <cstdint>

#include "fovea/op/tape.h"

namespace fovea {

// One number for both axes, or {height, width}.
struct HeightWidth {
  int64_t height, width;
  HeightWidth(int64_t both) : height(both), width(both) {}  // NOLINT: implicit on purpose
  HeightWidth(int64_t height, int64_t width) : height(height), width(width) {}
};

// Zeros at each end of a sequence, or {at its start, at its end}: a causal kernel of width K has
// {K - 1, 0}.
struct Padding {
  int64_t before, after;
  Padding(int64_t both) : before(both), after(both) {}  // NOLINT: implicit on purpose
  Padding(int64_t before, int64_t after) : before(before), after(after) {}
};

struct Conv1dOptions {
  int64_t stride = 1;
  Padding padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
};

struct Conv2dOptions {
  HeightWidth stride = 1;
  HeightWidth padding = 0;  // on every side
  HeightWidth dilation = 1;
  int64_t groups = 1;
};

// x [B, T, in], weight [out, K, in / groups], bias [out] or empty -> [B, T', out]
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv1dOptions& options = {});
// x [B, H, W, in], weight [out, KH, KW, in / groups], bias [out] or empty -> [B, H', W', out]
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

}  // namespace fovea
