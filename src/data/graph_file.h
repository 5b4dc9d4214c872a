// Graphs out of files. Three ways to write one down:
//   a folder    features.txt (line i: the numbers of the features that node i has), labels.txt (a
//               label a line, -1 for none), edges.txt ("u v" a line) and, if it is there, split.txt
//               ("train 0 1 2", "val ...", "test ..."), as the citation graphs are handed round
//   two files   nodes.csv (a header; columns id, label, split, and numbers, which are features) and
//               edges.csv (two columns of ids; a header may be there)
//   JSON lines  a graph a line: {"nodes": [{"id": "a", "x": [1, 0.5], "label": "red"}, ...],
//               "edges": [["a", "b"], ...], "label": "of the whole graph"}; ids are text or
//               numbers, all but edges and one of the labels can be left out
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fovea/base/random.h"

namespace fovea {

// What a node is held out for; none: it has a label, and nobody said.
enum class NodePart : uint8_t { none, train, dev, test };

struct GraphRecord {
  std::vector<std::string> names;  // of the nodes, no two alike
  // Features that are not 0, node by node: those of node i are from offsets[i] to offsets[i + 1].
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
  std::vector<float> values;
  int64_t features = 0;                            // columns that there are
  std::vector<std::pair<int32_t, int32_t>> edges;  // (from, to) as written
  std::vector<std::string> labels;                 // of the nodes; "": none
  std::vector<NodePart> parts;                     // of the nodes
  std::string label;                               // of the whole; "": none

  int64_t nodes() const { return static_cast<int64_t>(names.size()); }  // how many there are
};

// The numbers of a graph's nodes by their names.
class NodeNumbers {
 public:
  // The graph must outlive it.
  explicit NodeNumbers(const GraphRecord& graph);
  // -1: there is no such node.
  int32_t find(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, int32_t> numbers_;
};

// All graphs of a folder, of "nodes.csv,edges.csv" or of a file of JSON lines. An Error names file
// and line, or node: an edge to a node that is not there, two nodes of one name, a number that is
// none, lists of different lengths, JSON that is cut off.
std::vector<GraphRecord> read_graphs(const std::string& path);
// One graph of JSON, and back. `where` begins the message of an Error.
GraphRecord graph_of_json(std::string_view line, const std::string& where);
std::string json_of_graph(const GraphRecord& graph);

// builtin:lookup. Every node that asks has a key and is joined to all nodes that answer, which have
// each a key and a value; its label is the value of the one with its key. In GAT all that ask rank
// the answers alike, so that one layer cannot do it (Brody, Alon, Yahav 2022).
std::vector<GraphRecord> generate_lookup(int64_t n, int64_t keys, Random random);
// builtin:communities. One graph of n nodes in four groups: edges mostly stay within a group, words
// mostly do; the label is the group.
GraphRecord generate_communities(int64_t n, Random random);

}  // namespace fovea
