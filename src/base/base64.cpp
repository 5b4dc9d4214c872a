#include "fovea/base/base64.h"

#include <array>
#include <cstdint>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_of(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (size_t k = 0; k < 3; ++k) {
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? letters[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

std::string bytes_of_base64(std::string_view text) {
  const auto bad = [] { fail("base64: the text is damaged"); };
  if (text.size() % 4 != 0) bad();
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t four = 0;
    size_t padding = 0;
    for (size_t k = 0; k < 4; ++k) {
      const char c = text[i + k];
      const size_t at = letters.find(c);
      if (c == '=' && k >= 2 && i + 4 == text.size()) {
        ++padding;
      } else if (at == letters.npos || padding > 0) {
        bad();
      }
      four = four << 6 | (c == '=' ? 0u : static_cast<uint32_t>(at));
    }
    for (size_t k = 0; k < 3 - padding; ++k) bytes += static_cast<char>(four >> (16 - 8 * k) & 255);
  }
  return bytes;
}

}  // namespace fovea
