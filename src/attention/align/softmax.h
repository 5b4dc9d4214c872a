// Soft alignments that look at all keys.
//   softmax:  a_j = exp(e_j) / sum_i exp(e_i)     Bahdanau, Cho, Bengio 2014
//   sigmoid:  a_j = 1 / (1 + exp(-e_j))           unnormalised gates: Ramapuram et al. 2024
#pragma once

#include "fovea/attention/alignment.h"

namespace fovea {

Alignment softmax_alignment();  // the default of attend
Alignment sigmoid_alignment();  // weights need not sum to 1

}  // namespace fovea
