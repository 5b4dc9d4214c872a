// Lists of names in a model's folder: the labels it knows.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/vocabulary.h"

namespace fovea {

// Writes folder/name.json, a list of strings in the order of their ids.
inline void save_names(const std::string& folder, const std::string& name, const Vocabulary& v) {
  const std::string text = nlohmann::json(v.names()).dump(1) + "\n";
  write_file_atomically(folder + "/" + name + ".json", std::as_bytes(std::span(text)));
}

// The same back; an Error where the file is missing or no such list.
inline Vocabulary load_names(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name + ".json";
  std::ifstream file(path);
  check(file.good(), path, ": cannot be read; the model needs it");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  check(json.is_array() && !json.empty() &&
            std::ranges::all_of(json, [](const auto& one) { return one.is_string(); }),
        path, ": is not a list of names");
  return Vocabulary::of(json.get<std::vector<std::string>>());
}

}  // namespace fovea
