// UTF-8 text as a row of code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct CodePoint {
  int32_t value;  // -1: a byte that is not UTF-8
  size_t bytes;   // how many of the text it takes: 1 to 4
};

// Of a text that is not empty.
CodePoint first_code_point(std::string_view text);

// As many as code_points() gives.
int64_t count_code_points(std::string_view text);

// By Unicode: blanks of every width, and what breaks a line.
bool is_space(int32_t code_point);

// The place of the first byte that is not part of a code point's UTF-8, or -1 when all are.
int64_t first_not_utf8(std::string_view text);

// The code points, each as its bytes; a byte that is not UTF-8 stands alone.
std::vector<std::string_view> code_points(std::string_view text);

// What lies between Unicode spaces, without empty parts.
std::vector<std::string_view> split_at_spaces(std::string_view text);

// Code point by code point, so that there are as many as before.
std::string to_lowercase(std::string_view text);

// Adds the bytes of a code point, also those of half a surrogate pair, which are no UTF-8.
void append_code_point(std::string& text, uint32_t point);

}  // namespace fovea
