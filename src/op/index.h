// Ops that choose elements by number.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// Row ids[i] of table [V, ...] for every id: [ids' shape..., ...]. Ids outside [0, V) are an error.
Tensor embedding(const Tensor& table, const Tensor& ids);
// The adjoint of embedding: zeros [rows, ...] with x's rows added at ids; a negative id adds
// nothing.
Tensor scatter_add(const Tensor& x, const Tensor& ids, int64_t rows);
// One element of the last axis for every row: x [..., C], ids [...] -> [...].
Tensor pick(const Tensor& x, const Tensor& ids);
// x where mask (int32, 0 or not) is set, `otherwise` elsewhere; mask broadcasts to x.
Tensor where(const Tensor& mask, const Tensor& x, double otherwise);

}  // namespace fovea
