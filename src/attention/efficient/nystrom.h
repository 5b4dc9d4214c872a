// Landmarks: Xiong et al., "Nystromformer", 2021.
//   c = softmax(Q K~^T) pinv(softmax(Q~ K~^T)) softmax(Q~ K^T) V + conv(V)
// with scores over sqrt(d), landmarks Q~, K~ that are means of m stretches of the sequence, and a
// convolution over time with one kernel for each head. The inverse by steps of
//   Z <- Z (13 I - A Z (15 I - A Z (7 I - A Z))) / 4
// Cost n m. A sequence with fewer tokens than landmarks has as many as it has tokens.
#pragma once

#include "fovea/attention/efficient/self_attention.h"

namespace fovea {

struct NystromOptions {
  int64_t landmarks = 64;   // m
  int64_t pinv_steps = 6;   // of the inverse
  int64_t conv_width = 35;  // of the convolution, odd; 0: none
  int64_t heads = 1;        // of the layer
};
// The mechanism. Path: conv, [heads, conv_width].
SelfAttention nystrom_self_attention(Scope s, const NystromOptions& options);

// The pseudo-inverse of matrices [..., n, n] whose elements are not below 0, by so many steps. Rows
// and columns of zeros at the end stay zeros.
Tensor iterative_pinv(const Tensor& a, int64_t steps);

}  // namespace fovea
