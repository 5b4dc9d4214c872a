// Sums, means and maxima along an axis; negative axes count from the last.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// `keep` leaves the axis with size 1, so that the result broadcasts against x.
Tensor sum(const Tensor& x, int axis, bool keep = false);
Tensor mean(const Tensor& x, int axis, bool keep = false);
// The gradient goes to the first maximum.
Tensor max(const Tensor& x, int axis, bool keep = false);
// Over all elements, a scalar.
Tensor sum(const Tensor& x);
Tensor mean(const Tensor& x);

// Where the maximum stands along an axis, first one of equals: int32.
Tensor argmax(const Tensor& x, int axis);

// Sums x down to a shape that broadcasts to x's: the adjoint of broadcasting.
Tensor sum_to(const Tensor& x, const Shape& shape);
// Repeats x up to a shape it broadcasts to.
Tensor broadcast_to(const Tensor& x, const Shape& shape);

}  // namespace fovea
