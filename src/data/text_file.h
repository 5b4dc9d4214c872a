// Text files, read line by line: plain, gzip or xz, checked to be UTF-8.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Longer lines are taken for a mistake (a file without line breaks, a binary file).
inline constexpr int64_t longest_line = 512 * 1024;

using LineFunction = std::function<void(std::string_view line, int64_t number)>;

// Calls f for every line, numbered from 1, without its line break (\n or \r\n) and without a byte
// order mark. The content, not the name, tells whether the file is compressed. An Error names
// file:line and says what is wrong: not UTF-8, binary, a line above longest_line, compressed data
// that is damaged or ends too soon, a file that cannot be read. Holds one line at a time.
void for_each_line(const std::string& path, const LineFunction& f);

// All lines; a file without any is an Error.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace fovea
