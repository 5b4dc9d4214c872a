// builtin:reverse.
#include <array>

#include "fovea/data/builtin.h"

namespace fovea {
namespace {

constexpr std::array words{"red",   "green", "blue",  "amber", "north", "south", "east",  "west",
                           "sun",   "moon",  "star",  "cloud", "rain",  "snow",  "wind",  "storm",
                           "river", "lake",  "stone", "tree",  "leaf",  "root",  "apple", "pear",
                           "bread", "salt",  "horse", "cat",   "owl",   "fish",  "one",   "two"};

std::string draw_token(bool letters, Random& random) {
  if (letters) return std::string(1, static_cast<char>('a' + random.below(26)));
  return words[random.below(words.size())];
}

}  // namespace

std::vector<Pair> generate_reverse(int64_t n, Random random) {
  std::vector<Pair> pairs;
  for (int64_t i = 0; i < n; ++i) {
    const bool letters = random.below(2) == 0;
    const size_t count = 3 + random.below(18);
    Pair pair;
    std::vector<Span> spans;
    for (size_t k = 0; k < count; ++k) {
      if (k > 0) pair.source += ' ';
      const auto from = static_cast<int32_t>(pair.source.size());
      pair.source += draw_token(letters, random);
      spans.push_back({from, static_cast<int32_t>(pair.source.size())});
    }
    for (size_t k = count; k-- > 0;) {
      const Span span = spans[k];
      pair.target += pair.source.substr(span.from, span.to - span.from);
      if (k > 0) pair.target += ' ';
      pair.truth.insert(pair.truth.end(), span.to - span.from, span);
      if (k > 0) pair.truth.push_back({});
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace fovea
