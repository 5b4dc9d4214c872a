// walk_json takes what nlohmann's parser takes, and finds the same texts.
#include <map>
#include <nlohmann/json.hpp>

#include "fovea/base/utf8.h"
#include "fovea/data/json_line.h"
#include "memory_file.h"

namespace {

struct Texts : fovea::JsonVisitor {
  bool wants(std::string_view path) override { return path.find('.') == path.npos; }
  void value(std::string_view path, const fovea::JsonValue& value) override {
    found[std::string(path)] =
        value.kind == fovea::JsonKind::text ? nlohmann::json(value.text) : nlohmann::json();
  }
  void list(std::string_view path, std::span<const fovea::JsonValue> values) override {
    auto array = nlohmann::json::array();
    for (const auto& value : values) {
      array.push_back(value.kind == fovea::JsonKind::text ? nlohmann::json(value.text)
                                                          : nlohmann::json());
    }
    found[std::string(path)] = array;
  }
  std::map<std::string, nlohmann::json> found;
};

// With null for all that is no text.
nlohmann::json texts_of(const nlohmann::json& value) {
  if (value.is_string()) return value;
  if (!value.is_array()) return {};
  auto array = nlohmann::json::array();
  for (const auto& item : value) array.push_back(item.is_string() ? item : nlohmann::json());
  return array;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  // Lines are checked before they get here; nlohmann passes over a mark.
  if (fovea::first_not_utf8(line) >= 0 || line.find('\0') != line.npos) return 0;
  if (line.starts_with("\xef\xbb\xbf") || line.size() > 4096) return 0;
  Texts texts;
  const std::string problem = fovea::walk_json(line, texts);
  fovea::fuzz::need(problem.size() < 200);
  const auto parsed = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded()) {
    // A number may be too large for nlohmann's double.
    fovea::fuzz::need(!problem.empty() || line.find_first_of("eE0123456789") != line.npos);
    return 0;
  }
  if (!parsed.is_object()) {
    fovea::fuzz::need(!problem.empty());
    return 0;
  }
  if (problem.find("64 levels") != problem.npos) return 0;
  fovea::fuzz::need(problem.empty());
  for (const auto& [key, value] : parsed.items()) {
    const bool is_nested =
        value.is_object() ||
        (value.is_array() && std::any_of(value.begin(), value.end(),
                                         [](const auto& item) { return item.is_structured(); }));
    // A key that comes twice may have told a value before.
    if (key.find('.') != key.npos || is_nested || key.empty()) continue;
    fovea::fuzz::need(texts.found.count(key) > 0 && texts.found[key] == texts_of(value));
  }
  return 0;
}
