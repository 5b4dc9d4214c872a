// A graph, put together node by node and edge by edge, as readers come by them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "fovea/data/graph_file.h"

namespace fovea {

class GraphBuilder {
 public:
  // The number of a new node. A name that is there already is an Error that begins with `where`.
  int64_t add_node(const std::string& name, const std::string& where);
  // A feature of the node that was added last; 0 is not kept, but counts as a column.
  void add_feature(int64_t column, double value);
  // Of a node by its number, or of the whole graph.
  void set_label(int64_t node, std::string label) { at(graph_.labels, node) = std::move(label); }
  void set_part(int64_t node, NodePart part) { at(graph_.parts, node) = part; }
  void set_label(std::string label) { graph_.label = std::move(label); }
  // By the numbers of two nodes.
  void add_edge(int64_t from, int64_t to);
  // By their names; an Error where one of the two is not there.
  void add_edge(const std::string& from, const std::string& to, const std::string& where);

  int64_t nodes() const { return graph_.nodes(); }  // so far
  int64_t find(const std::string& name) const;      // a node's number; -1: there is no such node
  // An Error where there is no node.
  GraphRecord finish(const std::string& where);

 private:
  template <class T>
  static T& at(std::vector<T>& list, int64_t node) {
    return list[static_cast<size_t>(node)];
  }
  GraphRecord graph_;
  std::unordered_map<std::string, int64_t> by_name_;
};

// What a cell says; `where` begins the message of an Error. Parts are train, val (or dev), test,
// none or nothing.
NodePart node_part(std::string_view name, const std::string& where);
double graph_number(std::string_view text, const std::string& where);

}  // namespace fovea
