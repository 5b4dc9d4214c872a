#include "fovea/base/utf8.h"

#include <utf8proc.h>

#include <cstring>

namespace fovea {
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

// Files are checked as fast as they are split: eight ASCII bytes at a time, the others by the table
// of well-formed sequences (Unicode, table 3-7).
int64_t first_not_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const size_t size = text.size();
  const auto in = [&](size_t at, int low, int high) {
    return at < size && bytes[at] >= low && bytes[at] <= high;
  };
  for (size_t at = 0; at < size;) {
    if (bytes[at] < 0x80) {
      uint64_t eight;
      while (at + 8 <= size && (std::memcpy(&eight, bytes + at, 8), true) &&
             (eight & 0x8080808080808080) == 0) {
        at += 8;
      }
      while (at < size && bytes[at] < 0x80) ++at;
      continue;
    }
    const int first = bytes[at];
    size_t more = 0;
    if (first >= 0xc2 && first <= 0xdf) {
      more = in(at + 1, 0x80, 0xbf) ? 1 : 0;
    } else if (first >= 0xe0 && first <= 0xef) {
      const int low = first == 0xe0 ? 0xa0 : 0x80, high = first == 0xed ? 0x9f : 0xbf;
      more = in(at + 1, low, high) && in(at + 2, 0x80, 0xbf) ? 2 : 0;
    } else if (first >= 0xf0 && first <= 0xf4) {
      const int low = first == 0xf0 ? 0x90 : 0x80, high = first == 0xf4 ? 0x8f : 0xbf;
      more = in(at + 1, low, high) && in(at + 2, 0x80, 0xbf) && in(at + 3, 0x80, 0xbf) ? 3 : 0;
    }
    if (more == 0) return static_cast<int64_t>(at);
    at += 1 + more;
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

void append_code_point(std::string& text, uint32_t point) {
  const auto byte = [&](uint32_t value) { text += static_cast<char>(value); };
  if (point < 0x80) {
    byte(point);
  } else if (point < 0x800) {
    byte(0xc0 | point >> 6), byte(0x80 | (point & 63));
  } else if (point < 0x10000) {
    byte(0xe0 | point >> 12), byte(0x80 | (point >> 6 & 63)), byte(0x80 | (point & 63));
  } else {
    byte(0xf0 | point >> 18), byte(0x80 | (point >> 12 & 63));
    byte(0x80 | (point >> 6 & 63)), byte(0x80 | (point & 63));
  }
}

}  // namespace fovea
