// Comma-separated values as RFC 4180 has them: what `regress` and `classify` read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/rows.h"

namespace fovea {

// The cells of a row, which may be moved from, and the line that it begins on.
using RowFunction = std::function<void(std::vector<std::string>& cells, int64_t line)>;

// Calls f for every row that is not blank, with the number of the line it begins on. A cell that
// begins with a quote (after spaces, if any) ends at the next one that is not doubled, and may hold
// commas and line breaks; other cells are as they stand. Reads what for_each_line reads.
void for_each_csv_row(const std::string& path, const RowFunction& f);

// A text that stands in quotes, with every quote inside doubled, without them; others as they are.
std::string unquoted(std::string_view text);

}  // namespace fovea
