// How mechanisms that contain attention are told which score and alignment to use: given a place
// for parameters and the widths of queries and keys.
#pragma once

#include "fovea/attention/align.h"
#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

using ScoreFactory = std::function<Score(Scope, int64_t d_q, int64_t d_k)>;
using AlignmentFactory = std::function<Alignment(Scope, int64_t d_q)>;

}  // namespace fovea
