// The rows of the table of models that take steps.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

std::vector<ModelEntry> machine_rows();

}  // namespace fovea
