#include "fovea/data/table.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/csv.h"

namespace fovea {
NumberTable read_csv(const std::string& path) {
  NumberTable table;
  for_each_csv_row(path, [&](std::vector<std::string>& cells, int64_t number) {
    for (std::string& cell : cells) cell = trimmed(cell, " \t\r\n\"");
    std::vector<double> row(cells.size());
    size_t bad = 0;
    for (; bad < cells.size(); ++bad) {
      const auto number = to_number(cells[bad]);
      if (!number) break;
      row[bad] = *number;
    }
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

NumberTable read_numbers(const std::string& path, const ReadOptions& options,
                         ReadSummary* summary) {
  RecordReader records(path, {{"target", Role::Kind::number}, {"numbers", Role::Kind::numbers}},
                       options);
  NumberTable table;
  for (const size_t role : {1, 0}) {
    for (const size_t c : records.columns_of(role)) {
      table.names.push_back(records.summary().columns[c].name);
    }
  }
  while (records.next()) {
    const auto numbers = records.numbers(1);
    table.rows.emplace_back(numbers.begin(), numbers.end()).push_back(records.number(0));
  }
  if (summary != nullptr) *summary = records.summary();
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
