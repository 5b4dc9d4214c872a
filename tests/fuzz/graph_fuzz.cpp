// Whatever a line holds, it is a whole graph or one sentence; a graph written down is read again as
// it was.
#include "fovea/data/graph_file.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  using fuzz::need;
  std::vector<GraphRecord> graphs;
  const std::string path = fuzz::file_of(data, size);
  if (!fuzz::allow_error([&] { graphs = read_graphs(path); })) return 0;
  for (const GraphRecord& g : graphs) {
    const auto nodes = g.names.size();
    need(nodes > 0 && g.labels.size() == nodes && g.parts.size() == nodes);
    need(g.offsets.size() == nodes + 1 &&
         g.offsets[nodes] == static_cast<int64_t>(g.values.size()));
    need(g.columns.size() == g.values.size());
    for (int32_t column : g.columns) need(column >= 0 && column < g.features);
    for (const auto& [from, to] : g.edges) {
      need(from >= 0 && to >= 0 && from < g.nodes() && to < g.nodes());
    }
    const GraphRecord again = graph_of_json(json_of_graph(g), "again");
    need(again.names == g.names && again.edges == g.edges && again.labels == g.labels &&
         again.label == g.label && again.columns == g.columns && again.values == g.values);
  }
  return 0;
}
