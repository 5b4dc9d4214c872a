// The rows of the table of models for passages and questions about them.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

std::vector<ModelEntry> reader_rows();

}  // namespace fovea
