#include "fovea/data/table.h"

#include <charconv>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/csv.h"

namespace fovea {
namespace {

bool parse(const std::string& cell, double& value) {
  const char* end = cell.data() + cell.size();
  const auto result = std::from_chars(cell.data(), end, value);
  return result.ec == std::errc() && result.ptr == end && std::isfinite(value);
}

}  // namespace

NumberTable read_csv(const std::string& path) {
  NumberTable table;
  for_each_csv_row(path, [&](std::vector<std::string>& cells, int64_t number) {
    for (std::string& cell : cells) cell = trimmed(cell, " \t\r\n\"");
    std::vector<double> row(cells.size());
    size_t bad = 0;
    while (bad < cells.size() && parse(cells[bad], row[bad])) ++bad;
    if (bad < cells.size() && table.names.empty() && table.rows.empty()) {
      table.names = cells;
      check(cells.size() >= 2, path, ":", number, ": needs at least two columns, got one");
      return;
    }
    check(bad == cells.size(), path, ":", number, ": column ", bad + 1, " needs a number, got '",
          bad < cells.size() ? cells[bad].substr(0, 40) : "", "'");
    const size_t width = !table.names.empty() ? table.names.size()
                         : table.rows.empty() ? cells.size()
                                              : table.rows[0].size();
    check(width >= 2, path, ":", number, ": needs at least two columns, got one");
    check(row.size() == width, path, ":", number, ": needs ", width, " columns, got ", row.size());
    table.rows.push_back(std::move(row));
  });
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
