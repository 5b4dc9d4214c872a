#include "fovea/model/graph/graph.h"

#include <algorithm>
#include <cmath>

#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

using Edge = std::pair<int32_t, int32_t>;

// In order, each once, with a loop at every node.
std::vector<Edge> with_loops(const Tensor& edges, int64_t nodes) {
  check(edges.rank() == 2 && edges.dim(1) == 2 && edges.dtype() == Dtype::i32,
        "graph: edges must be int32 [E, 2], got ", edges.shape());
  std::vector<Edge> list;
  list.reserve(static_cast<size_t>(edges.dim(0) + nodes));
  const auto at = edges.read<int32_t>();
  for (size_t e = 0; e < at.size(); e += 2) {
    check(std::min(at[e], at[e + 1]) >= 0 && std::max(at[e], at[e + 1]) < nodes, "graph: an edge ",
          at[e], " - ", at[e + 1], " leads out of its ", nodes, " nodes");
    list.emplace_back(at[e], at[e + 1]);
  }
  for (int64_t i = 0; i < nodes; ++i) {
    list.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(i));
  }
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

SparseMatrix smoothing_of(const std::vector<Edge>& edges, int64_t nodes) {
  std::vector<int64_t> offsets(static_cast<size_t>(nodes) + 1);
  for (const Edge& e : edges) ++offsets[static_cast<size_t>(e.first) + 1];
  for (size_t i = 0; i < static_cast<size_t>(nodes); ++i) offsets[i + 1] += offsets[i];
  const auto root = [&](int32_t i) {
    const auto at = static_cast<size_t>(i);
    return std::sqrt(static_cast<double>(offsets[at + 1] - offsets[at]));
  };
  std::vector<int32_t> columns;
  std::vector<float> values;
  for (const auto& [i, j] : edges) {
    columns.push_back(j);
    values.push_back(static_cast<float>(1 / (root(i) * root(j))));
  }
  return {nodes, std::move(offsets), std::move(columns), std::move(values)};
}

}  // namespace

Tensor NodeFeatures::through(const Linear& layer, double p) const {
  if (sparse.empty()) return layer(dropout(dense, p));
  const Tensor y = sparse(transposed(layer.weight), dropout(sparse.values(), p));
  return layer.bias.empty() ? y : y + layer.bias;
}

NodeGraph::NodeGraph(NodeFeatures features, const Tensor& edges, const Packing& graphs) {
  const int64_t nodes = features.nodes();
  check(nodes > 0, "graph: has no nodes");
  check(graphs.rows() == nodes, "graph: ", graphs.rows(), " nodes make the graphs, but there are ",
        nodes);
  const std::vector<Edge> list = with_loops(edges, nodes);
  std::vector<int32_t> flat;
  for (const auto& [i, j] : list) flat.push_back(i), flat.push_back(j);
  const auto count = static_cast<int64_t>(list.size());
  stored_ = std::make_shared<Stored>();
  stored_->features = std::move(features);
  stored_->graphs = graphs;
  stored_->edges = Tensor::adopt({count, 2}, std::move(flat));
  stored_->smoothing = smoothing_of(list, nodes);
}

Pattern NodeGraph::who(int64_t heads) const {
  const std::lock_guard lock(stored_->mutex);
  const auto found = stored_->patterns.find(heads);
  if (found != stored_->patterns.end()) return found->second;
  return stored_->patterns.emplace(heads, edges(stored_->edges)).first->second;
}

}  // namespace fovea
