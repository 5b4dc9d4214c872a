// Drawings to and from JSON.
#include "fovea/report/heat_map_json.h"

#include <cmath>

#include "fovea/base/base64.h"
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

// Pixels as they are, in base64: small, and a page paints them without decoding a format.
nlohmann::json ground_json(const PictureGround& ground) {
  nlohmann::json pictures = nlohmann::json::array(), boxes = nlohmann::json::array();
  for (const Picture& picture : ground.pictures) {
    const std::string bytes(picture.pixels.begin(), picture.pixels.end());
    pictures.push_back({{"height", picture.height},
                        {"width", picture.width},
                        {"channels", picture.channels},
                        {"pixels", base64_of(bytes)}});
  }
  for (const auto& of_query : ground.boxes) {
    nlohmann::json list = nlohmann::json::array();
    for (const PictureBox& box : of_query) list.push_back({box.x, box.y, box.width, box.height});
    boxes.push_back(std::move(list));
  }
  return {{"pictures", pictures},
          {"rows", ground.rows},
          {"columns", ground.columns},
          {"boxes", boxes},
          {"path", ground.path}};
}

std::shared_ptr<const PictureGround> ground_from(const nlohmann::json& json) {
  auto ground = std::make_shared<PictureGround>();
  for (const auto& one : json.at("pictures")) {
    Picture picture{one.at("height"), one.at("width"), one.at("channels"), {}};
    const std::string bytes = bytes_of_base64(one.at("pixels").get<std::string>());
    const bool fits =
        (picture.channels == 1 || picture.channels == 3) && picture.height >= 0 &&
        picture.width >= 0 && picture.height <= 1 << 20 && picture.width <= 1 << 20 &&
        static_cast<size_t>(picture.height * picture.width * picture.channels) == bytes.size();
    check(fits, "drawing: a picture of ", picture.height, " x ", picture.width, " pixels and ",
          picture.channels, " channels cannot have ", bytes.size(), " bytes");
    picture.pixels.assign(bytes.begin(), bytes.end());
    ground->pictures.push_back(std::move(picture));
  }
  check(!ground->pictures.empty(), "drawing: a ground needs a picture");
  ground->rows = json.at("rows"), ground->columns = json.at("columns");
  ground->path = json.value("path", false);
  for (const auto& list : json.value("boxes", nlohmann::json::array())) {
    auto& boxes = ground->boxes.emplace_back();
    for (const auto& box : list) boxes.push_back({box.at(0), box.at(1), box.at(2), box.at(3)});
  }
  return ground;
}

AttentionMap map_from(const nlohmann::json& json) {
  AttentionMap map;
  map.name = json.value("name", "");
  map.queries = json.at("queries").get<std::vector<std::string>>();
  map.keys = json.at("keys").get<std::vector<std::string>>();
  map.weights = weights_from(json.at("weights"));
  if (json.contains("groups")) {
    for (const auto& group : json["groups"]) {
      map.groups.push_back({group.at("first").get<size_t>(), group.at("weight").get<float>()});
    }
  }
  map.star = json.value("star", false);
  const size_t needed = map.queries.size() * map.keys.size();
  check(map.weights.size() == needed, "drawing: map \"", map.name, "\" has ", map.queries.size(),
        " queries and ", map.keys.size(), " keys, which need ", needed, " weights, got ",
        map.weights.size());
  if (json.contains("ground")) map.ground = ground_from(json.at("ground"));
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
    if (map.star) one["star"] = true;
    if (!map.query_places.empty()) one["query_places"] = places_json(map.query_places);
    if (!map.key_places.empty()) one["key_places"] = places_json(map.key_places);
    for (const KeyGroup& group : map.groups) {
      one["groups"].push_back({{"first", group.first}, {"weight", group.weight}});
    }
    if (map.ground) one["ground"] = ground_json(*map.ground);
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
