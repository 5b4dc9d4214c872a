// CSV and TSV: the good rows of any file, written again with every cell in quotes, are the same
// rows.
#include "fovea/data/rows.h"
#include "memory_file.h"

namespace {

using namespace fovea;
using Table = std::vector<std::vector<std::string>>;

Table read(std::string_view text, char separator, Quotes quotes) {
  LineReader lines = LineReader::of(text);
  const auto rows = separated_rows(lines, separator, quotes);
  Table table;
  int64_t last = 0;
  for (Got got; (got = rows->next()) != Got::end;) {
    fuzz::need(rows->line() > 0);
    if (got == Got::bad) {
      fuzz::need(!rows->problem().empty());
      continue;
    }
    fuzz::need(rows->line() > last && !rows->cells().empty());
    last = rows->line();
    table.emplace_back(rows->cells().begin(), rows->cells().end());
  }
  return table;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char separator : {',', ';', '\t'}) {
    for (const Quotes quotes : {Quotes::rfc4180, Quotes::by_line}) {
      const Table table = read(text, separator, quotes);
      std::string again;
      bool plain = true;
      for (const auto& row : table) {
        for (const std::string& cell : row) {
          again += &cell == row.data() ? "\"" : std::string(1, separator) + "\"";
          for (const char c : cell) again += c == '"' ? "\"\"" : std::string(1, c);
          again += '"';
          // \r\n within quotes becomes \n.
          plain = plain && cell.find("\r\n") == std::string::npos;
        }
        again += '\n';
      }
      if (plain) fuzz::need(read(again, separator, Quotes::rfc4180) == table);
    }
  }
  return 0;
}
