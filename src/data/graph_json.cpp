// A graph as a line of JSON.
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/data/graph_builder.h"
#include "fovea/data/json_line.h"

namespace fovea {
namespace {

// What the line says, in its order: ids may come behind the features of their node, edges before
// the nodes.
class GraphVisitor final : public JsonVisitor {
 public:
  struct Node {
    std::optional<std::string> id;
    std::string label, split;
    std::vector<std::string> features;
  };

  bool wants(std::string_view path) override {
    return path == "label" || path.starts_with("nodes.") || path.starts_with("edges.");
  }
  // A node of which nothing is said is one too.
  void object(std::string_view path) override {
    if (!path.starts_with("nodes.") || path.find('.', 6) != std::string_view::npos) return;
    node(std::string(path) + ".");
  }
  void value(std::string_view path, const JsonValue& value) override {
    const std::string text(value.kind == JsonKind::null ? "" : value.text);
    if (path == "label") {
      label = text;
    } else if (const std::string_view key = key_of(path, "nodes."); key == "id") {
      node(path).id = text;
    } else if (key == "label") {
      node(path).label = text;
    } else if (key == "split") {
      node(path).split = text;
    }
  }
  void list(std::string_view path, std::span<const JsonValue> values) override {
    std::vector<std::string> words;
    for (const JsonValue& value : values) words.emplace_back(value.text);
    if (path.starts_with("edges.")) {
      edges.push_back(std::move(words));
    } else if (key_of(path, "nodes.") == "x") {
      node(path).features = std::move(words);
    }
  }

  std::vector<Node> nodes;
  std::vector<std::vector<std::string>> edges;
  std::string label, problem;

 private:
  // "id" of nodes.12.id.
  static std::string_view key_of(std::string_view path, std::string_view start) {
    if (!path.starts_with(start)) return {};
    const size_t dot = path.find('.', start.size());
    return dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  // They are told in order.
  Node& node(std::string_view path) {
    size_t number = 0;
    const char* const end = path.data() + path.size();
    const auto [rest, error] = std::from_chars(path.data() + 6, end, number);
    if (error == std::errc() && rest != end && *rest == '.' && number <= nodes.size()) {
      if (number == nodes.size()) nodes.emplace_back();
      return nodes[number];
    }
    problem = "nodes must be a list of objects that have an id, x, a label or a split each";
    return rejected_;
  }
  Node rejected_;
};

}  // namespace

GraphRecord graph_of_json(std::string_view line, const std::string& where) {
  GraphVisitor read;
  const std::string bad = walk_json(line, read);
  const std::string& problem = bad.empty() ? read.problem : bad;
  check<ErrorKind::input>(problem.empty(), where, ": ", problem);
  GraphBuilder graph;
  for (const GraphVisitor::Node& node : read.nodes) {
    const int64_t at = graph.add_node(node.id ? *node.id : std::to_string(graph.nodes()), where);
    check<ErrorKind::input>(node.features.size() == read.nodes[0].features.size(), where,
                            ": node '", node.id.value_or(std::to_string(at)), "' has ",
                            node.features.size(), " features, the first node has ",
                            read.nodes[0].features.size());
    for (size_t i = 0; i < node.features.size(); ++i) {
      graph.add_feature(static_cast<int64_t>(i), graph_number(node.features[i], where));
    }
    graph.set_label(at, node.label);
    graph.set_part(at, node_part(node.split, where));
  }
  for (const auto& edge : read.edges) {
    check<ErrorKind::input>(edge.size() == 2, where, ": an edge has two nodes, got ", edge.size());
    graph.add_edge(edge[0], edge[1], where);
  }
  graph.set_label(read.label);
  return graph.finish(where);
}

std::string json_of_graph(const GraphRecord& graph) {
  nlohmann::ordered_json nodes = nlohmann::json::array(), edges = nlohmann::json::array();
  static constexpr const char* parts[] = {"none", "train", "val", "test"};
  for (size_t i = 0; i < graph.names.size(); ++i) {
    std::vector<float> x(static_cast<size_t>(graph.features));
    for (auto e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      x[static_cast<size_t>(graph.columns[static_cast<size_t>(e)])] +=
          graph.values[static_cast<size_t>(e)];
    }
    nlohmann::ordered_json node{{"id", graph.names[i]}, {"x", x}};
    if (!graph.labels[i].empty()) node["label"] = graph.labels[i];
    if (graph.parts[i] != NodePart::none) node["split"] = parts[static_cast<int>(graph.parts[i])];
    nodes.push_back(std::move(node));
  }
  for (const auto& [from, to] : graph.edges) {
    edges.push_back({graph.names[static_cast<size_t>(from)], graph.names[static_cast<size_t>(to)]});
  }
  nlohmann::ordered_json all{{"nodes", nodes}, {"edges", edges}};
  if (!graph.label.empty()) all["label"] = graph.label;
  return all.dump();
}

}  // namespace fovea
