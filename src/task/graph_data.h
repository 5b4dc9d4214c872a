// What tasks over graphs share: where graphs come from, and how one node's part of a map is drawn.
#pragma once

#include <algorithm>

#include "fovea/data/graph_file.h"
#include "fovea/task/config.h"
#include "fovea/task/solver.h"

namespace fovea {

// Of a file, a folder or builtin:NAME.
std::vector<GraphRecord> load_graphs(const Config& config, const std::string& source);

// Layers of the model, which neighbours are drawn for.
int64_t layers_of(const Config& config);

// Of a map over all nodes those in `near`, each with its label; node(i) is the number of the node
// that key i is.
template <class F>
AttentionMap star_map(const AttentionMap& map, const GraphRecord& graph,
                      const std::vector<int32_t>& near, const F& node) {
  AttentionMap small;
  small.name = map.name, small.queries = map.queries, small.star = true;
  for (int32_t i : near) {
    const auto at = static_cast<size_t>(node(i));
    const std::string& label = graph.labels[at];
    small.keys.push_back(graph.names[at] + (label.empty() ? "" : " (" + label + ")"));
    small.weights.push_back(map.weights[static_cast<size_t>(i)]);
  }
  return small;
}

}  // namespace fovea
