// Local alignments: Luong, Pham, Manning, "Effective Approaches to Attention-based Neural Machine
// Translation", 2015.
//   local-m:  softmax over the keys t - D .. t + D around the query's own place t
//   local-p:  p = n sigmoid(v^T tanh(W q)),  a_j = softmax(e)_j exp(-(j - p)^2 / (2 sigma^2)),
//             over the keys p - D .. p + D, sigma = D / 2, n the number of keys
#pragma once

#include "fovea/attention/alignment.h"

namespace fovea {

Alignment local_m_alignment(double reach);
Alignment local_p_alignment(Scope s, int64_t d_q, double reach);

}  // namespace fovea
