// Features put behind the others, so that a score with more terms than a product becomes one
// product.
#pragma once

#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

// x [B, T, H, D] with `more` behind it: a feature that broadcasts to [B, T, H, 1].
inline Tensor extended(const Tensor& x, const Tensor& more) {
  return concat({x, broadcast_to(more, {x.dim(0), x.dim(1), x.dim(2), more.dim(-1)})}, -1);
}

// A feature that is 1 everywhere, of x's type: for extended().
inline Tensor one_like(const Tensor& x) { return Tensor::full({1, 1, 1, 1}, 1, x.dtype()); }

}  // namespace fovea
