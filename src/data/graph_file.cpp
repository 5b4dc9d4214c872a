#include "fovea/data/graph_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/data/csv.h"
#include "fovea/data/graph_builder.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

constexpr ErrorKind input = ErrorKind::input;

template <class F>
void each_word(std::string_view line, const F& f) {
  for (size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(" \t", at), line.size());
    f(line.substr(at, end - at));
    at = end;
  }
}

int64_t whole(std::string_view word, int64_t below, const std::string& where, const char* what) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  check<input>(error == std::errc() && end == word.data() + word.size() && number >= 0, where,
               ": needs the number of a ", what, ", got '", word, "'");
  check<input>(number < below, where, ": there is no ", what, " ", number, "; the highest is ",
               below - 1);
  return number;
}

GraphRecord read_folder(const std::string& folder) {
  constexpr int64_t most = 1 << 30;
  GraphBuilder graph;
  const std::string features = folder + "/features.txt", labels = folder + "/labels.txt";
  for_each_line(features, [&](std::string_view line, int64_t number) {
    graph.add_node(std::to_string(number - 1), say(features, ":", number));
    each_word(line, [&](std::string_view word) {
      graph.add_feature(whole(word, most, say(features, ":", number), "feature"), 1);
    });
  });
  int64_t nodes = 0;
  for_each_line(labels, [&](std::string_view line, int64_t number) {
    check<input>(number <= graph.nodes(), labels, ":", number, ": a label too many, as ", features,
                 " has ", graph.nodes(), " nodes");
    if (line != "-1") graph.set_label(number - 1, std::string(line));
    nodes = number;
  });
  check<input>(nodes == graph.nodes(), labels, ": has ", nodes, " labels, but ", features, " has ",
               graph.nodes(), " nodes");
  const std::string edges = folder + "/edges.txt", split = folder + "/split.txt";
  for_each_line(edges, [&](std::string_view line, int64_t number) {
    std::vector<int64_t> ends;
    const std::string where = say(edges, ":", number);
    each_word(line,
              [&](std::string_view word) { ends.push_back(whole(word, nodes, where, "node")); });
    if (ends.empty()) return;
    check<input>(ends.size() == 2, where, ": an edge has two nodes, got ", ends.size());
    graph.add_edge(ends[0], ends[1]);
  });
  if (!std::filesystem::exists(split)) return graph.finish(folder);
  for_each_line(split, [&](std::string_view line, int64_t number) {
    const std::string where = say(split, ":", number);
    bool first = true;
    NodePart part = NodePart::none;
    each_word(line, [&](std::string_view word) {
      if (first) {
        part = node_part(word, where);
      } else {
        graph.set_part(whole(word, nodes, where, "node"), part);
      }
      first = false;
    });
  });
  return graph.finish(folder);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return result;
}

void read_nodes_csv(const std::string& path, GraphBuilder& graph) {
  std::vector<std::string> header;
  int64_t id = -1;
  for_each_csv_row(path, [&](std::vector<std::string>& cells, int64_t line) {
    const std::string where = say(path, ":", line);
    if (header.empty()) {
      for (const std::string& cell : cells) header.push_back(lower(cell));
      id = std::ranges::find(header, "id") - header.begin();
      check<input>(id < static_cast<int64_t>(header.size()), where,
                   ": the first line must name the columns, one of them id; got '", cells[0],
                   "' as the first");
      return;
    }
    check<input>(cells.size() == header.size(), where, ": has ", cells.size(),
                 " cells, the header has ", header.size());
    const int64_t node = graph.add_node(cells[static_cast<size_t>(id)], where);
    int64_t feature = 0;
    for (size_t c = 0; c < cells.size(); ++c) {
      if (static_cast<int64_t>(c) == id) continue;
      if (header[c] == "label") {
        graph.set_label(node, cells[c]);
      } else if (header[c] == "split") {
        graph.set_part(node, node_part(cells[c], where));
      } else {
        graph.add_feature(feature++, graph_number(cells[c], where));
      }
    }
  });
}

void read_edges_csv(const std::string& path, GraphBuilder& graph) {
  bool first = true;
  for_each_csv_row(path, [&](std::vector<std::string>& cells, int64_t line) {
    const std::string where = say(path, ":", line);
    check<input>(cells.size() >= 2, where, ": an edge has two nodes, got ", cells.size(), " cell");
    // A first row of two words that are no nodes names the columns.
    const bool header =
        std::exchange(first, false) && graph.find(cells[0]) < 0 && graph.find(cells[1]) < 0;
    if (!header) graph.add_edge(cells[0], cells[1], where);
  });
}

}  // namespace

NodeNumbers::NodeNumbers(const GraphRecord& graph) {
  for (size_t i = 0; i < graph.names.size(); ++i) {
    numbers_.emplace(graph.names[i], static_cast<int32_t>(i));
  }
}

int32_t NodeNumbers::find(std::string_view name) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? -1 : found->second;
}

std::vector<GraphRecord> read_graphs(const std::string& path) {
  if (std::filesystem::is_directory(path)) return {read_folder(path)};
  const size_t comma = path.find(',');
  if (comma != std::string::npos && !std::filesystem::exists(path)) {
    GraphBuilder graph;
    read_nodes_csv(path.substr(0, comma), graph);
    read_edges_csv(path.substr(comma + 1), graph);
    return {graph.finish(path.substr(0, comma))};
  }
  std::vector<GraphRecord> graphs;
  for_each_line(path, [&](std::string_view line, int64_t number) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    graphs.push_back(graph_of_json(line, say(path, ":", number)));
  });
  check<input>(!graphs.empty(), path, ": holds no graph");
  return graphs;
}

}  // namespace fovea
