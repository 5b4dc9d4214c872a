// The rows of the table of models that take pictures.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// From a picture to its label.
std::vector<ModelEntry> sight_rows();

}  // namespace fovea
