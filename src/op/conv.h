// Convolution of sequences [B, T, C] and images [B, H, W, C]. Features come last as everywhere
// else, and in the weights too, so that a kernel of width 1 has the numbers of a Linear in the same
// order. PyTorch's weight [out, in / groups, kh, kw] becomes ours by permute(0, 2, 3, 1).
#pragma once

#include <cstdint>

#include "fovea/op/tape.h"

namespace fovea {

// One number for both axes, or {height, width}.
struct HeightWidth {
  int64_t height, width;  // of a kernel, a stride, a padding or a dilation
  HeightWidth(int64_t both) : height(both), width(both) {}  // NOLINT: implicit on purpose
  HeightWidth(int64_t h, int64_t w) : height(h), width(w) {}
};

// Zeros at each end of a sequence, or {at its start, at its end}: a causal kernel of width K has
// {K - 1, 0}.
struct Padding {
  int64_t before, after;  // places at the sequence's start, and at its end
  Padding(int64_t both) : before(both), after(both) {}  // NOLINT: implicit on purpose
  Padding(int64_t first, int64_t last) : before(first), after(last) {}
};

// How a kernel goes over a sequence.
struct Conv1dOptions {
  int64_t stride = 1;    // places from one output to the next
  Padding padding = 0;   // none: the output is shorter than the sequence
  int64_t dilation = 1;  // places from one element of the kernel to the next
  int64_t groups = 1;    // channels are split into so many, each convolved on its own
};

// How a kernel goes over an image.
struct Conv2dOptions {
  HeightWidth stride = 1;    // places from one output to the next
  HeightWidth padding = 0;   // on every side
  HeightWidth dilation = 1;  // places from one element of the kernel to the next
  int64_t groups = 1;        // channels are split into so many, each convolved on its own
};

// x [B, T, in], weight [out, K, in / groups], bias [out] or empty -> [B, T', out]
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv1dOptions& options = {});
// x [B, H, W, in], weight [out, KH, KW, in / groups], bias [out] or empty -> [B, H', W', out]
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              const Conv2dOptions& options = {});

}  // namespace fovea
