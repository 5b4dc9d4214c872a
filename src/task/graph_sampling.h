// Parts of a graph that is too large to be looked at whole: some nodes, some of their neighbours,
// some of those'. Hamilton, Ying, Leskovec, "Inductive Representation Learning on Large Graphs",
// 2017. What a batch costs then goes by the batch, not by the graph.
#pragma once

#include <span>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/task/graph_batch.h"

namespace fovea {

// Neighbours that each layer looks at, from "10,10": one number for each of `layers`, the first for
// the nodes that are asked about. Empty for "".
std::vector<int64_t> neighbour_counts(const std::string& text, int64_t layers);

class NeighbourSampler {
 public:
  // The graph must outlive it. An edge is looked along against its direction; undirected, both
  // ways.
  NeighbourSampler(const GraphRecord& graph, std::span<const std::pair<int32_t, int32_t>> edges,
                   const GraphBatchOptions& options);

  // Nodes, those asked about first and each once, and the graph of them.
  struct Part {
    std::vector<int32_t> nodes;  // their numbers in the whole graph
    NodeGraph graph;             // node i is nodes[i]; with the edges that were drawn alone
  };
  // Each node looks at up to counts[0] of its neighbours, those that came so at counts[1] of
  // theirs, and so on; which ones, `random` draws for each node by itself.
  Part around(std::span<const int32_t> asked, std::span<const int64_t> counts,
              const Random& random) const;

  // Whether there is an edge between the two.
  bool joined(int32_t one, int32_t other) const;

 private:
  std::span<const int32_t> neighbours(int32_t node) const {
    const auto at = static_cast<size_t>(node);
    return std::span(others_).subspan(static_cast<size_t>(offsets_[at]),
                                      static_cast<size_t>(offsets_[at + 1] - offsets_[at]));
  }
  const GraphRecord& graph_;
  FeatureForm form_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> others_;  // of each node whom it may look at, in order
};

}  // namespace fovea
