// Lists of words, and lines of them.
#pragma once

#include <string>
#include <vector>

namespace fovea {

// Words as a line, with spaces between them.
inline std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line;
}

}  // namespace fovea
