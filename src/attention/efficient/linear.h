// Linear attention: Katharopoulos, Vyas, Pappas, Fleuret, "Transformers are RNNs", 2020.
//   c_i = phi(q_i)^T S / phi(q_i)^T z     S = sum_j phi(k_j) v_j^T     z = sum_j phi(k_j)
// with phi(x) = elu(x) + 1, over all keys or those so far. Time and memory are linear in the
// length; a decoder keeps S and z, whatever came before.
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

// q, k [B, T, H, M], v [B, T, H, Dv]. elu: phi is elu(x) + 1; else queries and keys are features
// already, none of them below 0. Contexts [B, Tq, H, Dv].
Tensor linear_attention(const AttentionInputs& in, bool elu, const std::string& name);
// The next rows of a sequence: features of queries and keys and their values, with S and z of all
// rows before in the cache.
Tensor linear_attention_step(const Tensor& q, const Tensor& k, const Tensor& v,
                             KeyValueCache& cache);

// The mechanism.
SelfAttention linear_self_attention();

}  // namespace fovea
