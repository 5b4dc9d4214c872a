// Bilinear scores.
//   general:            e = k^T W q            Luong, Pham, Manning 2015
//   biased general:     e = k^T (W q + b)      Sordoni, Bachman, Trischler, Bengio 2016
//   activated general:  e = act(k^T W q + b)   Ma, Li, Zhang, Wang 2017 (b is one number)
#pragma once

#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// W is [d_k, d_q]; queries and keys may differ in width.
Score general_score(Scope s, int64_t d_q, int64_t d_k);
Score biased_general_score(Scope s, int64_t d_q, int64_t d_k);
Score activated_general_score(Scope s, int64_t d_q, int64_t d_k, ScoreMap act = ScoreMap::tanh);

}  // namespace fovea
