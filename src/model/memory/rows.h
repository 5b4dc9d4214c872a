// The rows of the table of models that take a story and a question.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Memory networks, the entity network, and a recurrent reader to compare them with.
std::vector<ModelEntry> memory_rows();

}  // namespace fovea
