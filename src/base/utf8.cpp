#include "fovea/base/utf8.h"

#include <utf8proc.h>

#include <cstring>

namespace fovea {
namespace {

// How many bytes from `at` on are ASCII, as far as eight at a time show it.
size_t ascii_run(std::string_view text, size_t at) {
  size_t to = at;
  for (uint64_t word; to + 8 <= text.size(); to += 8) {
    std::memcpy(&word, text.data() + to, 8);
    if (word & 0x8080808080808080) break;
  }
  return to - at;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1};
  int32_t value = -1;
  const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                      static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (bytes <= 0) return {-1, 1};
  return {value, static_cast<size_t>(bytes)};
}

int64_t count_code_points(std::string_view text) {
  int64_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) at += first_code_point(text.substr(at)).bytes;
  return count;
}

bool is_space(int32_t value) {
  if ((value >= '\t' && value <= '\r') || value == ' ' || value == 0x85) return true;
  if (value < 0xa0) return false;
  const auto category = utf8proc_category(value);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL ||
         category == UTF8PROC_CATEGORY_ZP;
}

int64_t first_not_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    at += ascii_run(text, at);
    if (at == text.size()) break;
    const CodePoint point = first_code_point(text.substr(at));
    if (point.value < 0) return static_cast<int64_t>(at);
    at += point.bytes;
  }
  return -1;
}

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> parts;
  parts.reserve(text.size());
  for (size_t at = 0; at < text.size(); at += parts.back().size()) {
    parts.push_back(text.substr(at, first_code_point(text.substr(at)).bytes));
  }
  return parts;
}

std::vector<std::string_view> split_at_spaces(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t from = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    if (is_space(point.value)) {
      if (at > from) parts.push_back(text.substr(from, at - from));
      from = at + point.bytes;
    }
    at += point.bytes;
  }
  if (text.size() > from) parts.push_back(text.substr(from));
  return parts;
}

std::string to_lowercase(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    if (point.value < 0x80) {
      const char c = text[at];
      lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    } else {
      utf8proc_uint8_t bytes[4];
      const auto count = utf8proc_encode_char(utf8proc_tolower(point.value), bytes);
      lower.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
    }
    at += point.bytes;
  }
  return lower;
}

}  // namespace fovea
