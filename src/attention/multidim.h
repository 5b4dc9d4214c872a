// Multi-dimensional attention, a weight for every feature of every value: Shen et al., "DiSAN:
// Directional Self-Attention Network for RNN/CNN-Free Language Understanding", 2018.
//   e_ij = W_d^T act(W_1 q_i + W_2 k_j + b) in R^d_v     a_i = align(e_i), along j, feature by
//   feature c_i = sum_j a_ij o v_j
// Plain ops on one block of queries at a time: scores exist for a block only, and the backward pass
// makes them again, so memory grows with the number of keys and not with its product with the
// queries.
#pragma once

#include "fovea/attention/align.h"
#include "fovea/attention/contract.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct MultiDimensionalOptions {
  int64_t d_w = 0;  // hidden width; 0: d_v
  ScoreMap act = ScoreMap::tanh;
  Alignment align{};  // softmax, sigmoid or entmax
};

struct MultiDimensional {
  MultiDimensional(Scope s, int64_t d_q, int64_t d_k, int64_t d_v,
                   const MultiDimensionalOptions& options = {});

  struct Inputs {
    Tensor q, k, v;  // as in AttentionInputs: [B, Tq, H, d_q], [B, Tk, Hk, d_k], [B, Tk, Hk, d_v]
    Pattern who{};
    bool capture = false;
  };
  struct Output {
    Tensor context;  // [B, Tq, H, d_v]
    Tensor weights;  // [B, H, Tq, Tk] when asked for: those of a key's features, averaged
  };
  Output operator()(const Inputs& in) const;

  MultiDimensionalOptions options;
  Linear W_1, W_2;    // b is W_2's
  const Tensor& W_d;  // [d_v, d_w], as y = W_d h
};

}  // namespace fovea
