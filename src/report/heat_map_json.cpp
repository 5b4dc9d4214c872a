// Drawings to and from JSON.
#include "fovea/report/heat_map_json.h"

#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::vector<float> weights_from(const nlohmann::json& json) {
  std::vector<float> result;
  for (const auto& item : json) {
    if (item.is_array())
      for (const auto& weight : item) result.push_back(weight.get<float>());
    else
      result.push_back(item.get<float>());
  }
  return result;
}

AttentionMap map_from(const nlohmann::json& json) {
  AttentionMap map;
  map.name = json.value("name", "");
  map.queries = json.at("queries").get<std::vector<std::string>>();
  map.keys = json.at("keys").get<std::vector<std::string>>();
  map.weights = weights_from(json.at("weights"));
  const size_t needed = map.queries.size() * map.keys.size();
  check(map.weights.size() == needed, "drawing: map \"", map.name, "\" has ", map.queries.size(),
        " queries and ", map.keys.size(), " keys, which need ", needed, " weights, got ",
        map.weights.size());
  return map;
}

nlohmann::json places_json(const std::vector<TextPlace>& places) {
  nlohmann::json list = nlohmann::json::array();
  for (const TextPlace& place : places) {
    list.push_back({{"begin", place.begin},
                    {"end", place.end},
                    {"char_begin", place.char_begin},
                    {"char_end", place.char_end}});
  }
  return list;
}

}  // namespace

nlohmann::json to_json(const Drawing& drawing) {
  nlohmann::json maps = nlohmann::json::array();
  for (const AttentionMap& map : drawing.maps) {
    const size_t cols = map.keys.size(), needed = map.queries.size() * cols;
    check(map.weights.size() == needed, "drawing: map \"", map.name, "\" needs ", needed,
          " weights, got ", map.weights.size());
    nlohmann::json rows = nlohmann::json::array();
    for (size_t i = 0; i < map.queries.size(); ++i) {
      nlohmann::json row = nlohmann::json::array();
      for (size_t j = 0; j < cols; ++j) {
        // As short as float allows: a double would be written with digits that were never there.
        const float weight = map.weights[i * cols + j];
        row.push_back(std::isfinite(weight) ? std::round(double{weight} * 1e6) / 1e6 : 0.0);
      }
      rows.push_back(std::move(row));
    }
    nlohmann::json one{
        {"name", map.name}, {"queries", map.queries}, {"keys", map.keys}, {"weights", rows}};
    if (!map.query_places.empty()) one["query_places"] = places_json(map.query_places);
    if (!map.key_places.empty()) one["key_places"] = places_json(map.key_places);
    maps.push_back(std::move(one));
  }
  return {{"title", drawing.title}, {"maps", maps}};
}

Drawing drawing_from_json(const nlohmann::json& json) {
  try {
    Drawing drawing{json.value("title", ""), {}};
    for (const auto& map : json.at("maps")) drawing.maps.push_back(map_from(map));
    return drawing;
  } catch (const nlohmann::json::exception& error) {
    fail("drawing: needs {\"title\", \"maps\": [{\"name\", \"queries\", \"keys\", \"weights\"}]}; ",
         error.what());
  }
}

}  // namespace fovea
