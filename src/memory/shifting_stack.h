// The stacks of a stack RNN: Joulin, Mikolov, "Inferring Algorithmic Patterns with Stack-Augmented
// Recurrent Nets", 2015. Every cell is a mixture of what it would be after a push, a pop and
// nothing:
//   s_0 = a_push x + a_pop s_1 + a_none s_0,   s_i = a_push s_i-1 + a_pop s_i+1 + a_none s_i
// Below the last cell that was ever pushed to lies -1, which stands for nothing: it is not stored,
// so that a step costs as much as has been pushed.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// cells [B, K, depth] (empty before the first step), pushed [B, K], actions [B, K, 3]: weights of
// push, pop and none. Gives [B, K, depth + 1], or `deepest` cells where that is less.
Tensor shifted_stacks(const Tensor& cells, const Tensor& pushed, const Tensor& actions,
                      int64_t deepest);

}  // namespace fovea
