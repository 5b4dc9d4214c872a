#include "fovea/data/table.h"

#include <charconv>
#include <cmath>
#include <fstream>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  size_t from = 0;
  for (;;) {
    const size_t comma = line.find(',', from);
    std::string cell = line.substr(from, comma == std::string::npos ? comma : comma - from);
    const size_t first = cell.find_first_not_of(" \t\r\"");
    const size_t last = cell.find_last_not_of(" \t\r\"");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    if (comma == std::string::npos) return cells;
    from = comma + 1;
  }
}

bool parse(const std::string& cell, double& value) {
  const char* end = cell.data() + cell.size();
  const auto result = std::from_chars(cell.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(value);
}

}  // namespace

NumberTable read_csv(const std::string& path) {
  std::ifstream file(path);
  check(file.good(), path, ": cannot be read");
  NumberTable table;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::vector<std::string> cells = split(line);
    std::vector<double> row(cells.size());
    size_t bad = 0;
    while (bad < cells.size() && parse(cells[bad], row[bad])) ++bad;
    if (bad < cells.size() && table.names.empty() && table.rows.empty()) {
      table.names = cells;
      check(cells.size() >= 2, path, ":", number, ": needs at least two columns, got one");
      continue;
    }
    check(bad == cells.size(), path, ":", number, ": column ", bad + 1, " needs a number, got '",
          bad < cells.size() ? cells[bad].substr(0, 40) : "", "'");
    const size_t width = !table.names.empty() ? table.names.size()
                         : table.rows.empty() ? cells.size()
                                              : table.rows[0].size();
    check(width >= 2, path, ":", number, ": needs at least two columns, got one");
    check(row.size() == width, path, ":", number, ": needs ", width, " columns, got ", row.size());
    table.rows.push_back(std::move(row));
  }
  check(!table.rows.empty(), path, ": has no rows of numbers");
  return table;
}

NumberTable generate_sine(int64_t rows, uint64_t seed) {
  Random random = Random(seed).fork("builtin:sine");
  NumberTable table{{"x", "y"}, {}};
  for (int64_t i = 0; i < rows; ++i) {
    const double x = 5.0 * random.uniform();
    table.rows.push_back({x, 2 * std::sin(x) + x + random.normal()});
  }
  return table;
}

}  // namespace fovea
