// A graph as models take it, or several side by side: what is known of each node, and whom it looks
// at.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "fovea/attention/pattern.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/sequences.h"
#include "fovea/op/sparse.h"

namespace fovea {

// What is known of nodes, one of the two.
struct NodeFeatures {
  Tensor dense{};         // [nodes, features]
  SparseMatrix sparse{};  // the same, where most are 0

  // How many nodes there are, and how many features each has.
  int64_t nodes() const { return sparse.empty() ? dense.dim(0) : sparse.rows(); }
  int64_t width() const { return sparse.empty() ? dense.dim(1) : sparse.columns(); }
  // linear(dropout(features, p)): [nodes, out]. What is 0 is not dropped, as that would change
  // nothing.
  Tensor through(const Linear& layer, double p) const;
};

// Not changed once it is made; a copy shares everything.
class NodeGraph {
 public:
  NodeGraph() = default;
  // edges: int32 [E, 2], rows (node, the one it looks at); one that comes twice counts once. Every
  // node looks at itself too.
  NodeGraph(NodeFeatures features, const Tensor& edges, const Packing& graphs);

  bool empty() const { return !stored_; }                      // there is no graph
  int64_t nodes() const { return stored_->features.nodes(); }  // of all graphs together
  // What is known of each of them.
  const NodeFeatures& features() const { return stored_->features; }
  // Which nodes make a graph, where there are several.
  const Packing& graphs() const { return stored_->graphs; }
  // Along the edges, for so many heads: worked out once.
  Pattern who(int64_t heads) const;
  // [nodes, nodes]: D^-1/2 A D^-1/2, where D has the row sums of A (Kipf, Welling 2017).
  const SparseMatrix& smoothing() const { return stored_->smoothing; }

 private:
  struct Stored {
    NodeFeatures features;
    Packing graphs;
    Tensor edges;
    SparseMatrix smoothing;
    std::mutex mutex{};
    std::map<int64_t, Pattern> patterns{};  // by heads, as a pattern keeps only its last sizes
  };
  std::shared_ptr<Stored> stored_;
};

}  // namespace fovea
