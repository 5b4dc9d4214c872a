// Additive scores.
//   additive:        e = w^T act(W_1 q + W_2 k + b)    Bahdanau, Cho, Bengio 2014; "concat" of
//   Luong et
//                    al. 2015 is the same with [W_1 W_2] as one matrix
//   self-attentive:  e = w^T act(W k + b)              Lin et al. 2017; Yang et al. 2016: no query
#pragma once

#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// d_w: the width of the hidden layer, and of w.
Score additive_score(Scope s, int64_t d_q, int64_t d_k, int64_t d_w, ScoreMap act = ScoreMap::tanh);
// The query is not looked at; one query row is enough.
Score self_attentive_score(Scope s, int64_t d_k, int64_t d_w, ScoreMap act = ScoreMap::tanh);

}  // namespace fovea
