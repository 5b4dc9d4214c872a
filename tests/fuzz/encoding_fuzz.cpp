// Bytes in any encoding, plain or packed, become lines of UTF-8 or are refused.
#include "fovea/base/utf8.h"
#include "fovea/data/line_reader.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fovea::Got;
  using fovea::fuzz::need;
  const std::string path = fovea::fuzz::file_of(data, size);
  for (const char* encoding : {"auto", "utf-8", "utf-16le", "utf-16be", "windows-1252"}) {
    fovea::fuzz::allow_error([&] {
      fovea::LineReader lines(path, encoding);
      const std::string head(lines.head(64));
      std::string begin;
      for (Got got; (got = lines.next()) != Got::end;) {
        if (got == Got::bad) {
          need(!lines.problem().empty());
          // Every byte is a character of Windows-1252.
          need(lines.encoding() != "Windows-1252" || lines.problem()[0] != 'n');
          continue;
        }
        need(fovea::first_not_utf8(lines.text()) < 0);
        need(lines.text().find('\n') == std::string_view::npos);
        if (begin.empty() && lines.number() == 1) {
          begin = lines.text();
          need(head.empty() || head.starts_with(begin.substr(0, 16).substr(0, head.size())));
        }
      }
    });
  }
  return 0;
}
