// Cross-entropy over choices of which each example has its own number.
#pragma once

#include "fovea/model/model.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"

namespace fovea {

// Scores [B, C] are -inf where mask (int32 [B, C]) is 0. Smoothing is over the others alone.
inline Tensor masked_loss(const Tensor& scores, const Tensor& mask, const Tensor& targets,
                          double smoothing, const Tensor& log_probability = {}) {
  const Tensor loss = classification_loss(scores, targets, 0, log_probability);
  if (smoothing == 0) return loss;
  const Tensor likely = where(mask, log_softmax(scores), 0);
  const Tensor each = sum(likely, -1) / sum(mask.to(scores.dtype()), -1);
  return loss * (1 - smoothing) - mean(each) * smoothing;
}

}  // namespace fovea
