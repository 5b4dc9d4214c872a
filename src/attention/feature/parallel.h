// Parallel co-attention: an affinity for every pair of rows, from which both inputs are weighted at
// once.
//   Lu, Yang, Batra, Parikh 2016:   A_ij = act(f_i^1 W f_j^2)
//     e^1 = w_1 act(W_1 F^1 + W_2 F^2 A^T)   e^2 = w_2 act(W_2 F^2 + W_1 F^1 A)
//   Fan, Feng, Zhao 2018 (MGAN), as Seo et al. 2017:   A_ij = w . [f_i^1; f_j^2; f_i^1 o f_j^2]
//   pooled:   e_i^1 = max_j A_ij   e_j^2 = max_i A_ij
// The affinity is any score of the catalogue: activated_general and trilinear are those above. The
// sums and maxima are made of blocks of it; the whole is never in memory when it is large. A
// Recorder gets it (name/affinity), where it is small, beside the weights of both inputs.
#pragma once

#include <optional>

#include "fovea/attention/feature/features.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct ParallelOptions : FeatureOptions {
  bool pooled = false;  // e^1 and e^2 are maxima of the affinity, without a hidden layer
  int64_t width = 0;    // hidden features of e^1 and e^2; 0: as many as the first input has
};

// Two inputs give a context each: c^1 = sum_i align(e^1)_i f_i^1, and so c^2.
struct ParallelCoAttention {
  ParallelCoAttention(Scope s, int64_t d_1, int64_t d_2, const ParallelOptions& options = {});

  FeatureOutput operator()(const Features& f_1, const Features& f_2) const;

  Score affinity;              // of rows of the first input with rows of the second
  Alignment align_1, align_2;  // of e^1 and e^2
  std::string name;            // its path; maps are name/affinity, name/first and name/second
  // Of what is not pooled.
  struct Hidden {
    Linear W_1, W_2;     // without a bias
    Parameter w_1, w_2;  // [hidden features]
  };
  std::optional<Hidden> hidden;  // none: pooled
};

// The same score with queries and keys in each other's place.
Score flipped(const Score& score);
// max_j score(q_i, k_j) over the rows of `keys` that count: [B, Tq]; 0 where none does.
Tensor largest_scores(const Features& queries, const Features& keys, const Score& score);

}  // namespace fovea
