// Matrix products over the last two axes; the axes before them are batches and broadcast.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// Which factor is taken with its last two axes exchanged.
enum class Transpose { none, a, b };

// [..., M, K] x [..., K, N] -> [..., M, N]. Transpose::b takes b as [..., N, K], Transpose::a takes
// a as
// [..., K, M]: nothing is copied for it.
Tensor matmul(const Tensor& a, const Tensor& b, Transpose transpose = Transpose::none);

}  // namespace fovea
