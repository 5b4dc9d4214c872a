#include "fovea/task/graph_data.h"

#include "fovea/model/graph/networks.h"

namespace fovea {

std::vector<GraphRecord> load_graphs(const Config& config, const std::string& source) {
  constexpr std::string_view builtin = "builtin:";
  if (!source.starts_with(builtin)) return read_graphs(source);
  const std::string name = source.substr(builtin.size());
  find_builtin(find_task(config.task), name);
  const Random random = Random(0).fork(source);
  if (name == "lookup") {
    return generate_lookup(config.examples > 0 ? config.examples : 2'000, 10, random);
  }
  return {generate_communities(config.examples > 0 ? config.examples : 400, random)};
}

int64_t layers_of(const Config& config) { return graph_options(config.settings).layers; }

}  // namespace fovea
