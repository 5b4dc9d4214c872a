// What a backward pass needs of a call, and the call as the kernels take it.
#pragma once

#include "fovea/attention/prepared.h"
#include "fovea/kernel/attention.h"

namespace fovea {

// A context, or a gradient of one, as kernels take it.
inline kernel::HeadView<const float> heads_of(const Tensor& x, bool head_major = false) {
  return (head_major ? Heads::head_major(x) : Heads(x)).view();
}
inline kernel::HeadView<float> heads_of(Tensor& x, bool head_major = false) {
  float* data = x.write().data();  // before there is a second handle
  return (head_major ? Heads::head_major(x) : Heads(x)).over(data);
}

// Where the context of a call goes: new memory, or what it was given.
Tensor context_for(const PreparedAttention& call);

// The inputs that a backward pass reads again.
struct SavedInputs {
  Extent e;          // of the call
  int64_t Hk;        // heads of keys and values
  Heads q, k, v;     // after the score's parameters
  Tensor bias;       // [b, h, q, Tk] with b, h and q whole or 1; as below by diagonal; or empty
  bool by_diagonal;  // as PreparedAttention has it
  float scale;       // of the product
  std::shared_ptr<const ResolvedPattern> who;  // without edges
  kernel::WeightDropout dropout;               // rate and seed

  explicit SavedInputs(const PreparedAttention& call);
  // Points into this object.
  kernel::HeadInputs<float> view() const;
};

// Gradients of q, k, v and, when it is wanted, of the bias.
struct SavedGradients {
  const SavedInputs& saved;    // what they are gradients for
  Tensor dq, dk, dv, dbias{};  // shaped as what they are for; dbias is empty when it is not wanted
  SavedGradients(const SavedInputs& saved, bool with_bias);
  // Points into this object, for kernels to write to.
  kernel::AttentionGradients<float> view();
};

// Tensors for the summary that a call asks for, and `to` pointing at them.
Weights summary_of(const PreparedAttention& call, kernel::AttentionSummary<float>& to);

}  // namespace fovea
