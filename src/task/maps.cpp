#include "fovea/task/maps.h"

#include <algorithm>

namespace fovea {
namespace {

struct Recorded {
  std::string name;
  std::vector<const Tensor*> steps;  // [B, H, Tq, Tk], one after the other
};

// "decoder/attention#7" is step 7 of "decoder/attention".
std::vector<Recorded> by_name(const Recorder& recorder) {
  std::vector<Recorded> all;
  for (const auto& map : recorder.maps()) {
    if (map.weights.rows.empty()) continue;
    const std::string name = map.name.substr(0, map.name.find('#'));
    auto found = std::ranges::find(all, name, &Recorded::name);
    if (found == all.end()) found = all.insert(all.end(), {name, {}});
    found->steps.push_back(&map.weights.rows);
  }
  return all;
}

}  // namespace

std::vector<AttentionMap> maps_of(const Recorder& recorder, int64_t b,
                                  const std::function<MapLabels(const std::string& name)>& labels) {
  std::vector<AttentionMap> maps;
  for (const Recorded& recorded : by_name(recorder)) {
    const auto [queries, keys] = labels(recorded.name);
    const int64_t H = recorded.steps[0]->dim(1);
    for (int64_t h = 0; h < H; ++h) {
      AttentionMap map{H == 1 ? recorded.name : say(recorded.name, " head ", h + 1), {}, keys, {}};
      for (const Tensor* step : recorded.steps) {
        const int64_t Tq = step->dim(2), Tk = step->dim(3);
        const auto from = step->read();
        for (int64_t i = 0; i < Tq && map.queries.size() < queries.size(); ++i) {
          map.queries.push_back(queries[map.queries.size()]);
          for (size_t j = 0; j < keys.size(); ++j) {
            const bool there = static_cast<int64_t>(j) < Tk;
            map.weights.push_back(there ? from[((b * H + h) * Tq + i) * Tk + j] : 0);
          }
        }
      }
      maps.push_back(std::move(map));
    }
  }
  return maps;
}

}  // namespace fovea
