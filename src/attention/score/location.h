// Location score: e_j = row j of W q, from the query alone. Luong, Pham, Manning 2015.
#pragma once

#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// Serves up to `longest` keys.
Score location_score(Scope s, int64_t d_q, int64_t longest);

}  // namespace fovea
