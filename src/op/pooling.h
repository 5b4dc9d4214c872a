// The maximum or the mean of windows that slide over sequences [B, T, C] and images [B, H, W, C].
// Over a whole axis, max() and mean() of op/reduce.h do the same.
#pragma once

#include "fovea/op/conv.h"

namespace fovea {

struct MaxPool1dOptions {
  int64_t kernel;       // places that a window covers
  int64_t stride = 0;   // 0: the kernel's size, so that windows do not overlap
  int64_t padding = 0;  // at each end, less than the kernel; it never is the maximum
};
// The same for height and width, each as a sequence has it.
struct MaxPool2dOptions {
  HeightWidth kernel;       // places that a window covers
  HeightWidth stride = 0;   // as above
  HeightWidth padding = 0;  // on every side, as above
};

// As for the maximum, with one choice more.
struct AvgPool1dOptions {
  int64_t kernel;       // places that a window covers
  int64_t stride = 0;   // 0: the kernel's size
  int64_t padding = 0;  // at each end, less than the kernel; zeros
  // The mean is over the window's size; false: over its real elements alone.
  bool count_padding = true;
};
// The same for height and width.
struct AvgPool2dOptions {
  HeightWidth kernel;         // places that a window covers
  HeightWidth stride = 0;     // 0: the kernel's size
  HeightWidth padding = 0;    // on every side, less than the kernel; zeros
  bool count_padding = true;  // as above
};

// The gradient goes to the first maximum of a window.
Tensor max_pool1d(const Tensor& x, const MaxPool1dOptions& options);
Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options);
// Means: the gradient is shared by a window's elements.
Tensor avg_pool1d(const Tensor& x, const AvgPool1dOptions& options);
Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options);

}  // namespace fovea
