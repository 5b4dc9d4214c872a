#include "fovea/data/text_file.h"

#include "fovea/base/error.h"

namespace fovea {

void for_each_line(const std::string& path, const LineFunction& f) {
  LineReader lines(path, "utf-8");
  for_each_line(lines, f);
}

void for_each_line(LineReader& lines, const LineFunction& f) {
  for (Got got; (got = lines.next()) != Got::end;) {
    check<ErrorKind::input>(got == Got::good, lines.path(), ":", lines.number(), ": ",
                            lines.problem());
    f(lines.text(), lines.number());
  }
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line, int64_t) { lines.emplace_back(line); });
  check<ErrorKind::input>(!lines.empty(), path, ": is empty; needs at least one line of text");
  return lines;
}

}  // namespace fovea
