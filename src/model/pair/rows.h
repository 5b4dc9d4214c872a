// The rows of the table of models that read two texts, or a phrase in its sentence.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Mechanisms over both texts, rotatory attention, and a Transformer for pairs.
std::vector<ModelEntry> pair_rows();

}  // namespace fovea
