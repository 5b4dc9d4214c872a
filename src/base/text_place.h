// Where a part of a text stands.
#pragma once

#include <cstdint>

namespace fovea {

// Bytes [begin, end) and code points [char_begin, char_end).
struct TextPlace {
  int64_t begin = 0, end = 0;            // bytes from the text's start
  int64_t char_begin = 0, char_end = 0;  // code points from the text's start
  bool operator==(const TextPlace&) const = default;
};

}  // namespace fovea
