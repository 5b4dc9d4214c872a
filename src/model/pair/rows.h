// The rows of the table of models that read two texts, or a phrase in its sentence.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

std::vector<ModelEntry> pair_rows();

}  // namespace fovea
