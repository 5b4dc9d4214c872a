// What every other model has to beat: rows of the table that are fitted or counted, not trained by
// steps.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Linear models of texts, pairs and phrases, the most frequent label, the mean, n-grams, nearest
// neighbours and least squares.
std::vector<ModelEntry> baseline_rows();

}  // namespace fovea
