// Dropout in one pass with what stands before and behind it in a Transformer. The mask is that of
// kernel/dropout.h for the same key.
#pragma once

#include "fovea/kernel/naive/dropped.h"
#include "fovea/kernel/unary.h"

namespace fovea::kernel {

using naive::Drop;

// y = x + dropout(part). y may be one of them.
void add_dropped(float* y, const float* x, const float* part, int64_t n, const Drop& drop);
// y = dropout(f(x)) and, unless it is null, slopes = dropout(f'(x)), which costs little more at the
// same time and makes the gradient a product; f is one of relu, gelu and gelu_tanh. y may be x.
void activate_dropped(Unary f, float* y, float* slopes, const float* x, int64_t n,
                      const Drop& drop);

using naive::activate_dropped;
using naive::add_dropped;

}  // namespace fovea::kernel
