// Convolution of each channel with a kernel of its own: no matrix product, but one multiplication a
// tap for whole vectors of channels. Weights are [taps of the kernel, channels].
#pragma once

#include <cstdint>

#include "fovea/kernel/conv_walk.h"

namespace fovea::kernel {

// For the places of the target that the walk visits. `bias` may be null.
void depthwise(const Walk& walk, const float* weights, const float* source, const float* bias,
               float* target);

// dw = the sum over positions [begin, end) of a forward walk, on the calling thread.
void depthwise_grad_weight(const Walk& walk, float* dw, const float* dy, const float* x,
                           int64_t begin, int64_t end);

}  // namespace fovea::kernel
