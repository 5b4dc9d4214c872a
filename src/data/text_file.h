// Text files, read line by line: plain, gzip, xz or zstd, checked to be UTF-8.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/line_reader.h"

namespace fovea {

// A line without its break, and its number from 1.
using LineFunction = std::function<void(std::string_view line, int64_t number)>;

// Calls f for every line, numbered from 1, without its line break (\n or \r\n) and without a byte
// order mark. The content, not the name, tells whether the file is compressed. An Error names
// file:line and says what is wrong: not UTF-8, binary, a line above longest_line, compressed data
// that is damaged or ends too soon, a file that cannot be read. Holds one line at a time.
void for_each_line(const std::string& path, const LineFunction& f);
// The same of lines that were opened already, in the encoding that they were opened in.
void for_each_line(LineReader& lines, const LineFunction& f);

// All lines; a file without any is an Error.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace fovea
