// Soft alignments that look at all keys.
//   softmax:  a_j = exp(e_j) / sum_i exp(e_i)     Bahdanau, Cho, Bengio 2014
//   sigmoid:  a_j = 1 / (1 + exp(-e_j))           unnormalised gates: Ramapuram et al. 2024
#pragma once

#include "fovea/attention/alignment.h"

namespace fovea {

Alignment softmax_alignment();
Alignment sigmoid_alignment();

}  // namespace fovea
