// JSON as text that every reader takes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fovea {

// Bytes that are not UTF-8 become U+FFFD: a model of bytes may cut a character in two, which must
// not cost the whole file. `indent` spaces a level, -1: all in one line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fovea
