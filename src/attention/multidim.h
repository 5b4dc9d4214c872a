// Multi-dimensional attention, a weight for every feature of every value: Shen et al., "DiSAN:
// Directional Self-Attention Network for RNN/CNN-Free Language Understanding", 2018.
//   e_ij = W_d^T act(W_1 q_i + W_2 k_j + b) in R^d_v     a_i = align(e_i), along j, feature by
//   feature c_i = sum_j a_ij o v_j
// Plain ops on one block of queries at a time: scores exist for a block only, and the backward pass
// makes them again, so memory grows with the number of keys and not with its product with the
// queries.
#pragma once

#include "fovea/attention/alignment.h"
#include "fovea/attention/contract.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct MultiDimensionalOptions {
  int64_t d_w = 0;                // hidden width; 0: d_v
  ScoreMap act = ScoreMap::tanh;  // between the two layers
  Alignment align{};              // one that goes by the scores alone
};

// The mechanism with its parameters.
struct MultiDimensional {
  MultiDimensional(Scope s, int64_t d_q, int64_t d_k, int64_t d_v,
                   const MultiDimensionalOptions& options = {});

  // Takes q, k, v, who, capture and name of the inputs. The weights asked for, or kept by a
  // Recorder, are those of a key's features, averaged: rows [B, H, Tq, Tk].
  AttentionOutput operator()(const AttentionInputs& in) const;

  MultiDimensionalOptions options;  // as it was made
  std::string name;                 // its path: what a Recorder calls its map
  Linear W_1, W_2;                  // of queries and keys; b is W_2's
  Parameter W_d;                    // [d_v, d_w], as y = W_d h
};

}  // namespace fovea
