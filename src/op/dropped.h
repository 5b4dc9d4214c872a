// A residual with dropout in one pass: what lies between is never in memory.
#pragma once

#include "fovea/base/random.h"
#include "fovea/kernel/dropped.h"
#include "fovea/op/tape.h"

namespace fovea {

// x + dropout(y), of one shape. Without a tape or a stream nothing is dropped.
Tensor add_dropped(const Tensor& x, const Tensor& y, double p, Random* random);

// What an op that drops leaves out. Without a tape or a stream that is nothing.
kernel::Drop draw_drop(double p, Random* random);

}  // namespace fovea
