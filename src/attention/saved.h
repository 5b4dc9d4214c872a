// What a backward pass needs of a call, and the call as the kernels take it.
#pragma once

#include "fovea/attention/prepared.h"
#include "fovea/kernel/attention.h"

namespace fovea {

inline kernel::HeadView<const float> heads_of(const Tensor& x) {
  return {x.read().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(2) * x.dim(3), x.dim(3)};
}
inline kernel::HeadView<float> heads_of(Tensor& x) {
  return {x.write().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(2) * x.dim(3), x.dim(3)};
}

struct SavedInputs {
  Extent e;
  int64_t Hk;
  Tensor q, k, v, bias;
  bool by_diagonal;
  float scale;
  std::shared_ptr<const ResolvedPattern> who;  // without edges
  kernel::WeightDropout dropout;

  explicit SavedInputs(const PreparedAttention& call);
  kernel::AttentionInputs<float> view() const;
};

// Gradients of q, k, v and, when it is wanted, of the bias.
struct SavedGradients {
  Tensor dq, dk, dv, dbias{};
  bool by_diagonal;
  SavedGradients(const SavedInputs& saved, bool with_bias);
  kernel::AttentionGradients<float> view();
};

// Tensors for the summary that a call asks for, and `to` pointing at them.
Weights summary_of(const PreparedAttention& call, kernel::AttentionSummary<float>& to);

}  // namespace fovea
