// Losses that tasks share.
#pragma once

#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/softmax.h"

namespace fovea {

// Mean cross-entropy of scores [n, C]. Where an alignment drew (log_probability [n] is given), the
// REINFORCE term is added: what was drawn becomes likelier where the loss was below the mean of the
// batch, which is the baseline (Williams 1992).
inline Tensor classification_loss(const Tensor& scores, const Tensor& targets, double smoothing,
                                  const Tensor& log_probability) {
  const Tensor each = cross_entropy_each(scores, targets, smoothing);
  const Tensor loss = mean(each);
  if (log_probability.empty()) return loss;
  Tensor advantage(each.shape());  // numbers, not part of what is differentiated
  auto to = advantage.write();
  const auto from = each.read();
  const auto baseline = static_cast<float>(loss.item());
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] - baseline;
  return loss + mean(advantage * log_probability);
}

}  // namespace fovea
