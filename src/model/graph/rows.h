// Models of graphs: rows of the table of models.
#pragma once

#include "fovea/model/table.h"

namespace fovea {

// Labels of nodes, or of whole graphs.
std::vector<ModelEntry> graph_rows();
// Edges to predict.
std::vector<ModelEntry> link_rows();

}  // namespace fovea
