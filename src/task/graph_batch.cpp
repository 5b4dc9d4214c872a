#include "fovea/task/graph_batch.h"

#include <algorithm>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Entries of all graphs, row by row.
struct Entries {
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
  std::vector<float> values;
};

void add_node(const GraphRecord& g, size_t i, Entries& all) {
  const auto from = g.features == 0 ? 0 : g.offsets[i], to = g.features == 0 ? 0 : g.offsets[i + 1];
  all.columns.insert(all.columns.end(), g.columns.begin() + from, g.columns.begin() + to);
  all.values.insert(all.values.end(), g.values.begin() + from, g.values.begin() + to);
  if (g.features == 0) all.columns.push_back(0), all.values.push_back(1);
  all.offsets.push_back(static_cast<int64_t>(all.columns.size()));
}

Entries entries_of(std::span<const GraphExample> examples) {
  Entries all;
  for (const GraphExample& one : examples) {
    for (size_t i = 0; i < one.graph->names.size(); ++i) add_node(*one.graph, i, all);
  }
  return all;
}

// Whether most features are 0.
bool mostly_zero(int64_t values, int64_t nodes, int64_t width) {
  return 4 * values < nodes * width;
}
bool none_below_zero(std::span<const float> values) {
  return std::ranges::all_of(values, [](float x) { return x > 0; });
}

void sum_to_one(Entries& all) {
  for (size_t i = 0; i + 1 < all.offsets.size(); ++i) {
    const auto row = std::span(all.values)
                         .subspan(static_cast<size_t>(all.offsets[i]),
                                  static_cast<size_t>(all.offsets[i + 1] - all.offsets[i]));
    float sum = 0;
    for (float x : row) sum += x;
    for (float& x : row) x /= sum;
  }
}

NodeFeatures features_of(Entries all, int64_t width, bool sparse, bool shares) {
  const auto nodes = static_cast<int64_t>(all.offsets.size()) - 1;
  NodeFeatures made;
  if (sparse) {
    if (shares) sum_to_one(all);
    made.sparse =
        SparseMatrix(width, std::move(all.offsets), std::move(all.columns), std::move(all.values));
    return made;
  }
  made.dense = Tensor::zeros({nodes, width});
  auto to = made.dense.write();
  for (int64_t i = 0; i < nodes; ++i) {
    for (int64_t e = all.offsets[static_cast<size_t>(i)];
         e < all.offsets[static_cast<size_t>(i) + 1]; ++e) {
      to[static_cast<size_t>(i * width + all.columns[static_cast<size_t>(e)])] +=
          all.values[static_cast<size_t>(e)];
    }
  }
  return made;
}

}  // namespace

int64_t features_of(std::span<const GraphRecord> graphs, const std::string& where) {
  const int64_t features = graphs[0].features;
  for (size_t i = 0; i < graphs.size(); ++i) {
    check<ErrorKind::input>(graphs[i].features == features, where, ": graph ", i + 1, " has ",
                            graphs[i].features, " features a node, the first has ", features);
  }
  return std::max<int64_t>(1, features);
}

NodeGraph node_graph(std::span<const GraphExample> examples, const GraphBatchOptions& options) {
  std::vector<int32_t> edges, starts{0};
  for (const GraphExample& one : examples) {
    const GraphRecord& g = *one.graph;
    check<ErrorKind::input>(std::max<int64_t>(1, g.features) <= options.features,
                            "graph: a node has ", g.features, " features, the model knows ",
                            options.features);
    const int32_t start = starts.back();
    for (const auto& [from, to] : g.edges) {
      edges.push_back(start + to), edges.push_back(start + from);
      if (!options.directed) edges.push_back(start + from), edges.push_back(start + to);
    }
    starts.push_back(start + static_cast<int32_t>(g.nodes()));
  }
  const auto count = static_cast<int64_t>(edges.size()) / 2;
  Entries entries = entries_of(examples);
  const bool sparse = mostly_zero(static_cast<int64_t>(entries.values.size()), starts.back(),
                                  options.features),
             shares = sparse && none_below_zero(entries.values);
  return {features_of(std::move(entries), options.features, sparse, shares),
          Tensor::adopt({count, 2}, std::move(edges)),
          Packing(Tensor::of({static_cast<int64_t>(starts.size())}, starts))};
}

FeatureForm feature_form(const GraphRecord& graph, int64_t features) {
  const bool sparse = graph.features > 0 && mostly_zero(static_cast<int64_t>(graph.values.size()),
                                                        graph.nodes(), features);
  return {sparse, sparse && none_below_zero(graph.values)};
}

NodeGraph node_graph(const GraphRecord& graph, std::span<const int32_t> nodes, const Tensor& edges,
                     int64_t features, const FeatureForm& form) {
  Entries entries;
  for (int32_t node : nodes) add_node(graph, static_cast<size_t>(node), entries);
  return {features_of(std::move(entries), features, form.sparse, form.shares), edges,
          Packing(Tensor::ids({2}, {0, static_cast<int32_t>(nodes.size())}))};
}

}  // namespace fovea
