// Alignments that draw while training, and take the likeliest otherwise.
//   hard:        one key, drawn from softmax(e): Xu et al., "Show, Attend and Tell", 2015
//   reinforced:  softmax over the keys that a learned selector keeps, each with probability
//                sigmoid(w^T tanh(W k + b)): Shen et al., "Reinforced Self-Attention", 2018
#pragma once

#include "fovea/attention/alignment.h"

namespace fovea {

// How the gradient passes a hard choice: as if it had been soft (Bengio, Leonard, Courville 2013),
// or not at all, with the log-probability given back for a REINFORCE term (Williams 1992).
enum class Estimator { straight_through, reinforce };
// One key for each query.
Alignment hard_alignment(Estimator estimator);
// The selector sees keys, d_k wide; whether each is kept is drawn while training.
Alignment reinforced_alignment(Scope s, int64_t d_k);

}  // namespace fovea
