// From a number for each distance to a bias for each pair of query and key.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// y[b, h, i, j] = r[b, h, i, clip(j - i - offset) + reach], with distances clipped to [-reach,
// reach] and query i standing where key i + offset does. r is [B, H, Tq, 2 reach + 1], or [B, H, 1,
// 2 reach + 1] when all queries share its rows; y is [B, H, Tq, Tk].
Tensor by_distance(const Tensor& r, int64_t Tq, int64_t Tk, int64_t offset);

}  // namespace fovea
