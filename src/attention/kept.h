// A call as the kernels take it. Its tensors and its pattern's arrays live as long as a backward
// pass may need them.
#pragma once

#include "fovea/attention/call.h"
#include "fovea/kernel/attention.h"

namespace fovea {

inline kernel::HeadView<const float> heads_of(const Tensor& x) {
  return {x.read().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(2) * x.dim(3), x.dim(3)};
}
inline kernel::HeadView<float> heads_of(Tensor& x) {
  return {x.write().data(), x.dim(1) * x.dim(2) * x.dim(3), x.dim(2) * x.dim(3), x.dim(3)};
}

struct Kept {
  Extent e;
  int64_t Hk;
  Tensor q, k, v, bias;
  bool by_diagonal;
  float scale;
  ResolvedPattern who;
  kernel::WeightDropout dropout;

  explicit Kept(const Call& call);
  kernel::AttentionInputs<float> view() const;
};

// Gradients of q, k, v and, when it is wanted, of the bias.
struct KeptGradients {
  Tensor dq, dk, dv, dbias{};
  bool by_diagonal;
  KeptGradients(const Kept& kept, bool with_bias);
  kernel::AttentionGradients<float> view();
};

// Tensors for the summary that a call asks for, and `to` pointing at them.
Weights summary_of(const Call& call, kernel::AttentionSummary<float>& to);

// The queries whose rows a call asks for.
std::vector<int32_t> asked_queries(const Call& call);

}  // namespace fovea
