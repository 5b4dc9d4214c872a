// Ops that move elements without changing them.
#pragma once

#include <span>
#include <vector>

#include "fovea/op/tape.h"

namespace fovea {

// Another shape for the same elements; one axis may be -1, "what is left". Copies nothing.
Tensor reshape(const Tensor& x, std::initializer_list<int64_t> dims);
Tensor reshape(const Tensor& x, const Shape& shape);
// Axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, std::initializer_list<int> order);
// The last two axes change places.
Tensor transposed(const Tensor& x);
// Elements [from, to) of an axis.
Tensor slice(const Tensor& x, int axis, int64_t from, int64_t to);
// Parts that agree on all axes but one are put one after the other along it.
Tensor concat(std::span<const Tensor> parts, int axis);
inline Tensor concat(std::initializer_list<Tensor> parts, int axis) {
  return concat(std::span(parts.begin(), parts.size()), axis);
}
// Equal shapes side by side along a new axis.
Tensor stack(std::span<const Tensor> parts, int axis);
// As slice, with zeros put round the axis: `before` in front and `after` behind.
Tensor pad(const Tensor& x, int axis, int64_t before, int64_t after);

}  // namespace fovea
