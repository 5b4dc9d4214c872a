// Text made safe for XML and HTML, inside elements and inside quoted attributes.
#pragma once

#include <string>
#include <string_view>

namespace fovea {

// The same text with &, <, > and quotes as entities.
inline std::string escaped_markup(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace fovea
