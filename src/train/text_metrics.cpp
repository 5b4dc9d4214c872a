#include "fovea/train/text_metrics.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// One number for each code point: its bytes. Different ones stay different, and a byte that is not
// UTF-8 counts as a letter too.
std::u32string letters(std::string_view text) {
  std::u32string all;
  for (const std::string_view point : code_points(text)) {
    char32_t letter = 0;
    for (const char byte : point) letter = letter << 8 | static_cast<unsigned char>(byte);
    all += letter;
  }
  return all;
}

}  // namespace

int64_t edit_distance(std::u32string_view a, std::u32string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a.remove_prefix(1), b.remove_prefix(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) a.remove_suffix(1), b.remove_suffix(1);
  // row[j]: edits between what was read of a and the first j of b.
  std::vector<int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (const char32_t letter : a) {
    int64_t diagonal = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t substituted = diagonal + (letter != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

Tally exact_match_tally(std::string_view predicted, std::string_view truth) {
  return {predicted == truth ? 1.0 : 0.0, 1};
}

Tally cer_tally(std::string_view predicted, std::string_view truth) {
  const std::u32string a = letters(predicted), b = letters(truth);
  return {static_cast<double>(edit_distance(a, b)), static_cast<double>(b.size())};
}

}  // namespace fovea
