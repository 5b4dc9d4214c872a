// Whatever bytes a file of examples has, plain or packed, they are read or refused with an Error
// that names the file, and what is read holds together.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/data/csv.h"
#include "fovea/data/examples.h"
#include "fovea/data/table.h"
#include "fovea/data/text_file.h"

namespace {

void need(bool ok) {
  if (!ok) std::abort();
}

template <class F>
void allow_error(const F& read) {
  try {
    read();
  } catch (const fovea::Error& error) {
    const std::string_view text = error.what();
    need(text.find("/proc/self/fd/") != std::string_view::npos && text.size() < 600);
  }
}

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
  static const int file = memfd_create("examples", 0);
  need(file >= 0 && ftruncate(file, 0) == 0);
  need(pwrite(file, data, size, 0) == static_cast<ssize_t>(size));
  read_all("/proc/self/fd/" + std::to_string(file));
  return 0;
}
