// Dropout together with what stands before and behind it in a Transformer: what lies between is
// never in memory, neither on the way nor for the gradient.
#pragma once

#include "fovea/base/random.h"
#include "fovea/kernel/unary.h"
#include "fovea/op/tape.h"

namespace fovea {

// x + dropout(y + bias), with x and y [..., C] of one shape and bias [C] or empty. Without a tape
// or a stream nothing is dropped.
Tensor add_dropped(const Tensor& x, const Tensor& y, const Tensor& bias, double p, Random* random);

// dropout(f(x + bias)), of relu, gelu or gelu_tanh: functions whose slope needs x alone.
Tensor activate_dropped(kernel::Unary f, const Tensor& x, const Tensor& bias, double p,
                        Random* random);

}  // namespace fovea
