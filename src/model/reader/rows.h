// The rows of the table of models for passages and questions about them.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Those that choose a candidate, and those that mark a span.
std::vector<ModelEntry> reader_rows();

}  // namespace fovea
