// What every other model has to beat: rows of the table that are fitted or counted, not trained by
// steps.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Linear models, the most frequent label, n-grams, nearest neighbours and least squares.
std::vector<ModelEntry> baseline_rows();

}  // namespace fovea
