// Dropout together with what stands before and behind it in a Transformer: what lies between is
// never in memory.
#pragma once

#include "fovea/base/random.h"
#include "fovea/kernel/unary.h"
#include "fovea/op/tape.h"

namespace fovea {

// x + dropout(y), of one shape. Without a tape or a stream nothing is dropped.
Tensor add_dropped(const Tensor& x, const Tensor& y, double p, Random* random);

// dropout(f(x)), of relu, gelu or gelu_tanh: functions whose slope needs x alone.
Tensor activate_dropped(kernel::Unary f, const Tensor& x, double p, Random* random);

}  // namespace fovea
