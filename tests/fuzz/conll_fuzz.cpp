// Sentences of CoNLL columns and CoNLL-U hold together, whatever the file.
#include "fovea/data/rows.h"
#include "memory_file.h"

using fovea::Got;
using fovea::fuzz::need;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool conllu : {false, true}) {
    fovea::LineReader lines = fovea::LineReader::of(text);
    const auto rows = fovea::conll_rows(lines, conllu);
    size_t width = 0;
    for (Got got; (got = rows->next()) != Got::end;) {
      need(rows->line() > 0);
      if (got == Got::bad) {
        need(!rows->problem().empty());
        continue;
      }
      if (width == 0) width = rows->cells().size();
      need(rows->cells().size() == width && (!conllu || width == 11));
      const size_t words = rows->list(0).size();
      need(words > 0 && rows->line_of(words - 1) >= rows->line());
      for (size_t c = 0; c < (conllu ? 10 : width); ++c) need(rows->list(c).size() == words);
    }
  }
  return 0;
}
