// A residual with dropout in one pass: what lies between is never in memory.
#pragma once

#include "fovea/kernel/dropped.h"
#include "fovea/op/tape.h"

namespace fovea {

// x + dropout(y), of one shape. Unless this thread trains nothing is dropped.
Tensor add_dropped(const Tensor& x, const Tensor& y, double p);

// What an op that drops leaves out. Unless this thread trains that is nothing.
kernel::Drop draw_drop(double p);

}  // namespace fovea
