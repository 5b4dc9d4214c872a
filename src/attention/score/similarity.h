// Similarity scores.
//   cosine:     e = beta cos(q, k), beta learned or given       Graves, Wayne, Danihelka 2014
//   euclidean:  e = -|q - k|
//   kernel:     e = -|(q - k) w|^2 / 2, w learned or given      Nadaraya 1964, Watson 1964
// The last is one product of |q|^2, q . k and |k|^2, as exact as the largest of them: data far from
// 0 should be moved there first.
#pragma once

#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// beta is the first value, or with learn_beta = false the only one.
Score cosine_score(Scope s, double beta = 1, bool learn_beta = true);
// Without parameters; queries and keys are equally wide.
Score euclidean_score();
// d: the width of queries and keys, each feature with a w of its own where it is learned.
Score kernel_score(Scope s, int64_t d, double w = 1, bool learn_w = true);

}  // namespace fovea
