// Trilinear score, one weight for each feature of query, key and their product: Seo, Kembhavi,
// Farhadi, Hajishirzi, "Bidirectional Attention Flow", 2017; Fan, Feng, Zhao 2018.
//   e = w . [q; k; q o k]
#pragma once

#include "fovea/attention/contract.h"
#include "fovea/nn/scope.h"

namespace fovea {

// Queries and keys are equally wide.
Score trilinear_score(Scope s, int64_t d);

}  // namespace fovea
