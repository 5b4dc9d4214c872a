#include "fovea/data/csv.h"

#include "fovea/base/error.h"

namespace fovea {

void for_each_csv_row(const std::string& path, const RowFunction& f) {
  LineReader lines(path, "utf-8");
  const auto rows = separated_rows(lines, ',', Quotes::rfc4180);
  std::vector<std::string> cells;
  for (Got got; (got = rows->next()) != Got::end;) {
    check(got == Got::good, lines.path(), ":", rows->line(), ": ", rows->problem());
    cells.assign(rows->cells().begin(), rows->cells().end());
    f(cells, rows->line());
  }
}

std::string unquoted(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return std::string(text);
  const std::string_view inside = text.substr(1, text.size() - 2);
  std::string result;
  for (size_t at = 0; at < inside.size(); ++at) {
    if (inside[at] == '"' && (++at == inside.size() || inside[at] != '"')) return std::string(text);
    result += inside[at];
  }
  return result;
}

}  // namespace fovea
