#include "fovea/task/graph_batch.h"

#include <algorithm>
#include <cmath>
#include <fstream>

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

void sum_to_one(Entries& all) {
  for (size_t i = 0; i + 1 < all.offsets.size(); ++i) {
    const auto row = std::span(all.values)
                         .subspan(static_cast<size_t>(all.offsets[i]),
                                  static_cast<size_t>(all.offsets[i + 1] - all.offsets[i]));
    float sum = 0;
    for (float x : row) sum += x;
    if (sum == 0) continue;
    for (float& x : row) x /= sum;
  }
}

NodeFeatures features_of(Entries all, const FeatureForm& form) {
  const auto nodes = static_cast<int64_t>(all.offsets.size()) - 1, width = form.features;
  NodeFeatures made;
  if (form.sparse) {
    if (form.shares) sum_to_one(all);
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
  for (size_t i = 0; i < to.size() && !form.scale.empty(); ++i) {
    const size_t column = i % static_cast<size_t>(width);
    const double x = (static_cast<double>(to[i]) - form.center[column]) / form.scale[column];
    to[i] = static_cast<float>(std::clamp(x, -8.0, 8.0));  // one that is far off must not be all
  }
  return made;
}

// Means and deviations of all columns; one that is the same everywhere stays as it is.
void scale_columns(std::span<const GraphRecord* const> graphs, int64_t nodes, FeatureForm& form) {
  const auto width = static_cast<size_t>(form.features);
  form.center.assign(width, 0), form.scale.assign(width, 0);
  for (const GraphRecord* g : graphs) {
    for (size_t e = 0; e < g->values.size(); ++e) {
      form.center[static_cast<size_t>(g->columns[e])] += static_cast<double>(g->values[e]);
    }
  }
  for (double& x : form.center) x /= static_cast<double>(nodes);
  std::vector<double> zeros(width, static_cast<double>(nodes));  // what no entry speaks of
  for (const GraphRecord* g : graphs) {
    for (size_t e = 0; e < g->values.size(); ++e) {
      const auto column = static_cast<size_t>(g->columns[e]);
      const double by = static_cast<double>(g->values[e]) - form.center[column];
      form.scale[column] += by * by;
      --zeros[column];
    }
  }
  for (size_t c = 0; c < width; ++c) {
    const double squares =
        form.scale[c] + std::max(0.0, zeros[c]) * form.center[c] * form.center[c];
    form.scale[c] = std::sqrt(squares / static_cast<double>(nodes));
    if (form.scale[c] <= 1e-9 * std::abs(form.center[c])) form.center[c] = 0, form.scale[c] = 1;
    if (form.scale[c] == 0) form.scale[c] = 1;
  }
}

}  // namespace

void FeatureForm::add_to(nlohmann::json& json) const {
  json["features"] = features;
  json["sparse"] = sparse, json["shares"] = shares;
  json["center"] = center, json["scale"] = scale;
}

FeatureForm FeatureForm::from(const nlohmann::json& json, const std::string& path) {
  FeatureForm form;
  try {
    json.at("features").get_to(form.features);
    json.at("sparse").get_to(form.sparse), json.at("shares").get_to(form.shares);
    json.at("center").get_to(form.center), json.at("scale").get_to(form.scale);
  } catch (const nlohmann::json::exception&) {
    fail<ErrorKind::input>(path, ": does not say how features are taken; train the model again");
  }
  const auto n = static_cast<size_t>(std::max<int64_t>(0, form.features));
  const bool whole = form.center.size() == form.scale.size() &&
                     (form.scale.empty() || form.scale.size() == n) &&
                     std::ranges::all_of(form.scale, [](double x) { return x > 0; });
  check<ErrorKind::input>(form.features >= 1 && whole, path,
                          ": does not say how features are taken; train the model again");
  return form;
}

nlohmann::json read_graph_json(const std::string& folder) {
  const std::string path = folder + "/graph.json";
  std::ifstream file(path);
  check<ErrorKind::io>(file.good(), path, ": cannot be read; the model needs it");
  auto json = nlohmann::json::parse(file, nullptr, false);
  check<ErrorKind::input>(json.is_object(), path, ": is not what a model of graphs leaves there");
  return json;
}

FeatureForm feature_form(std::span<const GraphRecord* const> graphs, const std::string& where) {
  const int64_t features = graphs[0]->features;
  int64_t nodes = 0, values = 0;
  bool none_below_zero = true;
  for (size_t i = 0; i < graphs.size(); ++i) {
    const GraphRecord& g = *graphs[i];
    check<ErrorKind::input>(g.features == features, where, ": graph ", i + 1, " has ", g.features,
                            " features a node, the first has ", features);
    nodes += g.nodes(), values += std::ssize(g.values);
    none_below_zero &= std::ranges::all_of(g.values, [](float x) { return x > 0; });
  }
  FeatureForm form{.features = std::max<int64_t>(1, features)};
  if (features == 0) return form;
  form.sparse = 4 * values < nodes * features;
  form.shares = form.sparse && none_below_zero;
  if (!form.sparse) scale_columns(graphs, nodes, form);
  return form;
}

NodeGraph node_graph(std::span<const GraphExample> examples, const GraphBatchOptions& options) {
  std::vector<int32_t> edges, starts{0};
  for (const GraphExample& one : examples) {
    const GraphRecord& g = *one.graph;
    check<ErrorKind::input>(std::max<int64_t>(1, g.features) <= options.form.features,
                            "graph: a node has ", g.features, " features, the model knows ",
                            options.form.features);
    const int32_t start = starts.back();
    for (const auto& [from, to] : g.edges) {
      edges.push_back(start + to), edges.push_back(start + from);
      if (!options.directed) edges.push_back(start + from), edges.push_back(start + to);
    }
    starts.push_back(start + static_cast<int32_t>(g.nodes()));
  }
  const auto count = static_cast<int64_t>(edges.size()) / 2;
  return {features_of(entries_of(examples), options.form),
          Tensor::adopt({count, 2}, std::move(edges)),
          Packing(Tensor::of({static_cast<int64_t>(starts.size())}, starts))};
}

NodeGraph node_graph(const GraphRecord& graph, std::span<const int32_t> nodes, const Tensor& edges,
                     const FeatureForm& form) {
  Entries entries;
  for (int32_t node : nodes) add_node(graph, static_cast<size_t>(node), entries);
  return {features_of(std::move(entries), form), edges,
          Packing(Tensor::ids({2}, {0, static_cast<int32_t>(nodes.size())}))};
}

}  // namespace fovea
