// The rows of the table of models that take steps.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Turing and random-access machines, stacks, and the baselines without a memory.
std::vector<ModelEntry> machine_rows();

}  // namespace fovea
