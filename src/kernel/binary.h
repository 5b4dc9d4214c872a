// y = f(a, b), element by element, with broadcasting.
#pragma once

#include <array>
#include <cstdint>

#include "fovea/base/shape.h"
#include "fovea/kernel/naive/binary.h"

namespace fovea::kernel {

using naive::Binary;
using naive::Broadcast;

// How two shapes combine: axes align at the end, and an axis of size 1 repeats. Axes that can be
// walked as one are merged, so equal shapes become a single run. Throws where sizes clash.
Broadcast broadcast(const Shape& a, const Shape& b);
// The shape that comes out.
Shape broadcast_shape(const Shape& a, const Shape& b);

// y is contiguous in the combined shape; it may be a or b where that one is not repeated.
void binary(Binary f, float* y, const float* a, const float* b, const Broadcast& how);
inline void binary(Binary f, double* y, const double* a, const double* b, const Broadcast& how) {
  naive::binary(f, y, a, b, how);
}

}  // namespace fovea::kernel
