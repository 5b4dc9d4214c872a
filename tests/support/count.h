// How often one text stands in another.
#pragma once

#include <string>

namespace fovea::test {

inline size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

}  // namespace fovea::test
