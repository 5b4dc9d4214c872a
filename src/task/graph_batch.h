// From graphs as files have them to graphs as models take them.
#pragma once

#include <span>

#include "fovea/data/graph_file.h"
#include "fovea/model/inputs.h"

namespace fovea {

// A graph and the nodes of it that count; where whole graphs are labelled, none are named.
struct GraphExample {
  const GraphRecord* graph;      // which must outlive it
  std::vector<int32_t> asked{};  // numbers of nodes
  NodeGraph ready{};             // as models take it, where that is known already
};

// How graphs are made ready for a model.
struct GraphBatchOptions {
  int64_t features = 1;   // columns that the model knows
  bool directed = false;  // an edge is looked along against its direction only; else both ways
};

// Graphs side by side. Features that are 0 or more and mostly 0, as bags of words are, sum to 1 in
// every node; a graph without features has one that is 1.
NodeGraph node_graph(std::span<const GraphExample> examples, const GraphBatchOptions& options);

// How a graph's features are kept.
struct FeatureForm {
  bool sparse = false, shares = false;  // most are 0; those of a node sum to 1
};
// The one that suits a graph, for a model that knows `features` columns.
FeatureForm feature_form(const GraphRecord& graph, int64_t features);
// Some nodes of a graph, with edges between them: int32 [E, 2], rows (node, the one it looks at) by
// their places in the list; `form` is that of the whole graph.
NodeGraph node_graph(const GraphRecord& graph, std::span<const int32_t> nodes, const Tensor& edges,
                     int64_t features, const FeatureForm& form);

// Columns that a model of these graphs needs; an Error unless all have as many.
int64_t features_of(std::span<const GraphRecord> graphs, const std::string& where);

}  // namespace fovea
