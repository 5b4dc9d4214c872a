// Whatever bytes a file of examples has, plain or packed, they are read or refused with an Error
// that names the file, and what is read holds together.
#include <string>

#include "fovea/data/csv.h"
#include "fovea/data/examples.h"
#include "fovea/data/table.h"
#include "memory_file.h"

namespace {

using fovea::fuzz::allow_error;
using fovea::fuzz::need;

void read_all(const std::string& path) {
  allow_error([&] {
    for (const auto& pair : fovea::read_pairs(path)) {
      need(!pair.source.empty() && !pair.target.empty());
    }
  });
  for (const char* column : {"", "xpos", "2"}) {
    allow_error([&] {
      for (const auto& sentence : fovea::read_tagged(path, column)) {
        need(!sentence.words.empty() && sentence.words.size() == sentence.tags.size());
      }
    });
  }
  allow_error([&] {
    for (const auto& example : fovea::read_labelled(path)) {
      need(!example.text.empty() && !example.label.empty());
    }
  });
  allow_error([&] {
    fovea::for_each_csv_row(path,
                            [](auto& cells, int64_t line) { need(!cells.empty() && line > 0); });
  });
  allow_error([&] {
    const auto table = fovea::read_csv(path);
    for (const auto& row : table.rows) need(row.size() == table.rows[0].size());
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  read_all(fovea::fuzz::file_of(data, size));
  return 0;
}
