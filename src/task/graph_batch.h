// From graphs as files have them to graphs as models take them.
#pragma once

#include <nlohmann/json.hpp>
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

// How a model takes the features of nodes: decided once, by what it learns from, so that a graph is
// the same to it wherever it stands.
struct FeatureForm {
  int64_t features = 1;                 // columns that there are
  bool sparse = false, shares = false;  // most are 0; those of a node sum to 1
  // Of columns, all or none, that are made mean 0 and deviation 1.
  std::vector<double> center{}, scale{};

  // Into folder/graph.json, with what else a task keeps there, and out of it.
  void add_to(nlohmann::json& json) const;
  static FeatureForm from(const nlohmann::json& json, const std::string& path);
};
// The one that suits these graphs, an Error unless all have as many columns: features that are 0 or
// more and mostly 0, as bags of words are, sum to 1 in every node; others that are not mostly 0 are
// scaled. A graph without features has one that is 1.
FeatureForm feature_form(std::span<const GraphRecord* const> graphs, const std::string& where);

// How graphs are made ready for a model.
struct GraphBatchOptions {
  FeatureForm form{};     // how features are taken
  bool directed = false;  // an edge is looked along against its direction only; else both ways
};

// Graphs side by side.
NodeGraph node_graph(std::span<const GraphExample> examples, const GraphBatchOptions& options);

// Some nodes of a graph, with edges between them: int32 [E, 2], rows (node, the one it looks at) by
// their places in the list.
NodeGraph node_graph(const GraphRecord& graph, std::span<const int32_t> nodes, const Tensor& edges,
                     const FeatureForm& form);

// What is in folder/graph.json; an Error unless it is an object of JSON.
nlohmann::json read_graph_json(const std::string& folder);

}  // namespace fovea
