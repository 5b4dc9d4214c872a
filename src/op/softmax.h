// Softmax along the last axis, and the loss made of it.
#pragma once

#include "fovea/op/tape.h"

namespace fovea {

// A row of nothing but -inf gives zeros.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);

// Cross-entropy of logits [..., C] with targets [...] (int32), a value for each target. A negative
// target is skipped: loss and gradient zero. With label smoothing s the wanted distribution is
// (1 - s) one-hot + s / C.
Tensor cross_entropy_each(const Tensor& logits, const Tensor& targets, double smoothing = 0);
// Its mean over the targets that are not skipped.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, double smoothing = 0);

}  // namespace fovea
