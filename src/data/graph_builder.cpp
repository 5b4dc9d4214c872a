#include "fovea/data/graph_builder.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {

int64_t GraphBuilder::add_node(const std::string& name, const std::string& where) {
  const auto [found, fresh] = by_name_.emplace(name, graph_.nodes());
  check<ErrorKind::input>(fresh, where, ": there are two nodes '", name,
                          "'; every node needs an id of its own");
  graph_.names.push_back(name);
  graph_.offsets.push_back(graph_.offsets.back());
  graph_.labels.emplace_back();
  graph_.parts.push_back(NodePart::none);
  return found->second;
}

void GraphBuilder::add_feature(int64_t column, double value) {
  graph_.features = std::max(graph_.features, column + 1);
  const auto kept = static_cast<float>(value);
  if (kept == 0) return;
  graph_.columns.push_back(static_cast<int32_t>(column));
  graph_.values.push_back(kept);
  ++graph_.offsets.back();
}

void GraphBuilder::add_edge(int64_t from, int64_t to) {
  graph_.edges.emplace_back(static_cast<int32_t>(from), static_cast<int32_t>(to));
}

void GraphBuilder::add_edge(const std::string& from, const std::string& to,
                            const std::string& where) {
  const int64_t ends[] = {find(from), find(to)};
  for (int i = 0; i < 2; ++i) {
    check<ErrorKind::input>(ends[i] >= 0, where, ": an edge leads to the node '", i ? to : from,
                            "', which is not there");
  }
  add_edge(ends[0], ends[1]);
}

int64_t GraphBuilder::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

GraphRecord GraphBuilder::finish(const std::string& where) {
  check<ErrorKind::input>(graph_.nodes() > 0, where, ": holds a graph without nodes");
  return std::move(graph_);
}

double graph_number(std::string_view text, const std::string& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check<ErrorKind::input>(error == std::errc() && end == text.data() + text.size() &&
                              std::isfinite(value) && std::abs(value) < 1e30,
                          where, ": '", text,
                          "' is not a number; what is neither id, label nor split is a feature");
  return value;
}

NodePart node_part(std::string_view name, const std::string& where) {
  if (name == "train") return NodePart::train;
  if (name == "val" || name == "dev") return NodePart::dev;
  if (name == "test") return NodePart::test;
  check<ErrorKind::input>(name.empty() || name == "none", where,
                          ": a split is train, val, test or none, got '", name, "'");
  return NodePart::none;
}

}  // namespace fovea
