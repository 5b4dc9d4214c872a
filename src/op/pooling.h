// The maximum or the mean of windows that slide over sequences [B, T, C] and images [B, H, W, C].
// Over a whole axis, max() and mean() of op/reduce.h do the same.
#pragma once

#include "fovea/op/conv.h"

namespace fovea {

struct MaxPool1dOptions {
  int64_t kernel;
  int64_t stride = 0;   // 0: the kernel's size, so that windows do not overlap
  int64_t padding = 0;  // at each end, less than the kernel; it never is the maximum
};
struct MaxPool2dOptions {
  HeightWidth kernel;
  HeightWidth stride = 0;
  HeightWidth padding = 0;
};

struct AvgPool1dOptions {
  int64_t kernel;
  int64_t stride = 0;
  int64_t padding = 0;
  bool count_padding = true;  // false: the mean of the real elements alone
};
struct AvgPool2dOptions {
  HeightWidth kernel;
  HeightWidth stride = 0;
  HeightWidth padding = 0;
  bool count_padding = true;
};

// The gradient goes to the first maximum of a window.
Tensor max_pool1d(const Tensor& x, const MaxPool1dOptions& options);
Tensor max_pool2d(const Tensor& x, const MaxPool2dOptions& options);
Tensor avg_pool1d(const Tensor& x, const AvgPool1dOptions& options);
Tensor avg_pool2d(const Tensor& x, const AvgPool2dOptions& options);

}  // namespace fovea
