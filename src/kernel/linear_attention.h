// Attention whose weights are products of features, so that sums can be kept in the place of pairs:
// Katharopoulos et al., "Transformers are RNNs", 2020.
//   out_i = sum_j (f(q_i) . f(k_j)) v_j / sum_j f(q_i) . f(k_j)     S = sum_j f(k_j) v_j^T
// over all keys of a stretch or, causal, those up to the query. Causal stretches are cut into
// chunks: what came before a chunk is in S, and inside of it there are pairs. Time and memory grow
// with the rows. It has a plain twin in naive/linear_attention.h.
#pragma once

#include "fovea/kernel/attention.h"

namespace fovea::kernel {

// Queries [q0, q1) of batch entry b that see the keys [k0, k1); causal: query i sees those up to
// k1 - (q1 - 1 - i), so that the last one sees them all.
struct LinearStretch {
  int64_t b, q0, q1, k0, k1;
  bool causal;
};

template <class T>
struct LinearInputs {
  int64_t H = 1, M = 0, Dv = 0;  // heads, features of queries and keys, of values
  HeadView<const T> q, k, v;
  bool elu = false;  // f(x) = elu(x) + 1; else f(x) = x, features that are there already
  const LinearStretch* stretches = nullptr;
  int64_t count = 0;
  int64_t B = 0, Tq = 0, Tk = 0;  // rows of the arrays
};

// Rows of a causal stretch that are taken together.
constexpr int64_t linear_chunk = 64;
// Numbers that a backward pass needs of the forward one, sums in front of every chunk; and those it
// works with.
int64_t linear_attention_room(const LinearInputs<float>& in);
int64_t linear_attention_back_room(const LinearInputs<float>& in);

// out is 0 where a query sees nothing. den [B, H, Tq] gets the denominators; sums has
// linear_attention_room() numbers. Rows of `out` and `den` in no stretch are not written.
void linear_attention_forward(const LinearInputs<float>& in, HeadView<float> out, float* den,
                              float* sums);
// Overwrites every gradient, with 0 where nobody looked. `room` has linear_attention_back_room()
// numbers.
void linear_attention_backward(const LinearInputs<float>& in, HeadView<const float> out,
                               HeadView<const float> dout, const float* den, const float* sums,
                               float* room, HeadView<float> dq, HeadView<float> dk,
                               HeadView<float> dv);

// Denominators are at least this.
constexpr double linear_least = 1e-30;

}  // namespace fovea::kernel
