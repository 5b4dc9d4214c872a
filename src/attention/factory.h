// How mechanisms that contain attention are told which score to use, given a place for parameters
// and the widths of queries and keys. Alignments: AlignmentFactory in alignment.h.
#pragma once

#include "fovea/attention/alignment.h"
#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// Makes the score of one attention, whose parameters stand under the Scope.
using ScoreFactory = std::function<Score(Scope, int64_t d_q, int64_t d_k)>;

}  // namespace fovea
