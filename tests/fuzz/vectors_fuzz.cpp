// Whatever a file of vectors holds, text or binary, it is vectors of one width or one sentence.
#include <cmath>
#include <set>

#include "fovea/data/vectors.h"
#include "memory_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  using fuzz::need;
  const std::string path = fuzz::file_of(data, size);
  int64_t width = 0;
  if (!fuzz::allow_error([&] { width = vectors_width(path); })) return 0;
  need(width > 0);
  fuzz::allow_error([&] {
    std::set<std::string> words;
    read_vectors(
        path, [](std::string_view) { return true; },
        [&](std::string_view word, std::span<const float> numbers) {
          need(static_cast<int64_t>(numbers.size()) == width);
          need(words.emplace(word).second);
          for (const float x : numbers) need(std::isfinite(x));
          return true;
        });
  });
  return 0;
}
