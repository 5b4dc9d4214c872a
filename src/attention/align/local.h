// Local alignments: Luong, Pham, Manning, "Effective Approaches to Attention-based Neural Machine
// Translation", 2015.
//   local-m:  softmax over the keys t - D .. t + D around the query's own place t
//   local-p:  p = n sigmoid(v^T tanh(W q)),  a_j = softmax(e)_j exp(-(j - p)^2 / (2 sigma^2)),
//             over the keys p - D .. p + D, sigma = D / 2, n the number of keys
#pragma once

#include "fovea/attention/alignment.h"

namespace fovea {

// The window stands where AttentionInputs says that a query stands; reach is D, above 0.
Alignment local_m_alignment(double reach);
// The window stands where the query's own features, d_q of them, put it.
Alignment local_p_alignment(Scope s, int64_t d_q, double reach);

}  // namespace fovea
