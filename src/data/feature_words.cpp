#include "fovea/data/feature_words.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "fovea/base/utf8.h"
#include "fovea/data/ngrams.h"

namespace fovea {
namespace {

using Words = std::span<const std::string>;
using WordSet = std::unordered_set<std::string_view>;

// How many of the words of at least so many letters are in the set.
void add_share(FeatureWords& to, std::string_view mark, Words of, int64_t letters,
               const WordSet& in) {
  int64_t all = 0, found = 0;
  for (const std::string& word : of) {
    if (count_code_points(word) < letters) continue;
    ++all;
    found += in.contains(word);
  }
  if (all > 0) to.add(marked(mark, std::to_string(10 * found / all)));
}

// Signs, and words with which something else begins to be spoken of.
bool ends_clause(std::string_view word) {
  // Not a single hyphen, which stands between the parts of a word too.
  static const WordSet ends{"but", "however", "although", "though", "while", "whereas", "--",
                            "…",   "–",       "—",        "，",     "。",    "；"};
  return word.find_first_not_of(",.;:!?()") == word.npos || ends.contains(word);
}

// The words [begin, end), $T$ in the place of the phrase.
void add_around(FeatureWords& to, std::string_view mark, Words words, size_t begin, size_t end,
                size_t from, size_t phrase_end) {
  for (size_t i = begin; i < from; ++i) to.add(marked(mark, words[i]), i);
  to.add(marked(mark, "$T$"));
  for (size_t i = phrase_end; i < end; ++i) to.add(marked(mark, words[i]), i);
}

void add_plain(FeatureWords& to, Words words) {
  for (size_t i = 0; i < words.size(); ++i) to.add(words[i], i);
}

}  // namespace

void FeatureWords::add(std::string word, size_t token) {
  words.push_back(std::move(word));
  tokens.push_back(static_cast<int32_t>(token));
}
void FeatureWords::add(std::string word) {
  words.push_back(std::move(word));
  tokens.push_back(-1);
}

std::vector<float> shared_words(Words words, Words other) {
  const WordSet known(other.begin(), other.end());
  std::vector<float> marks;
  for (const std::string& word : words) marks.push_back(known.contains(word) ? 1.0f : 0.0f);
  return marks;
}

FeatureWords words_of_pair(Words first, Words second) {
  FeatureWords all;
  add_plain(all, first);
  const WordSet of_first(first.begin(), first.end()), of_second(second.begin(), second.end());
  for (size_t i = 0; i < second.size(); ++i) {
    all.add(marked("second", second[i]), first.size() + i);
  }
  WordSet told;
  for (size_t i = 0; i < second.size(); ++i) {
    if (!of_first.contains(second[i]) || !told.insert(second[i]).second) continue;
    all.add(marked("shared", second[i]), first.size() + i);
  }
  add_share(all, "second in first", second, 1, of_first);
  add_share(all, "long second in first", second, 4, of_first);
  add_share(all, "first in second", first, 1, of_second);
  add_share(all, "long first in second", first, 4, of_second);
  return all;
}

FeatureWords words_of_record(Words text, Words names, std::span<const double> deviations) {
  FeatureWords all;
  add_plain(all, text);
  for (size_t i = 0; i < names.size(); ++i) {
    const double z = deviations[i];
    // Halves of a deviation, up to three of them: few enough to be seen often.
    const std::string bin =
        std::isnan(z) ? "?" : std::to_string(std::lround(std::clamp(std::floor(2 * z), -6.0, 5.0)));
    all.add(marked(names[i], bin), text.size() + i);
  }
  return all;
}

FeatureWords words_of_phrase(Words words, size_t from, size_t to) {
  const size_t n = words.size();
  to = std::min(to, n), from = std::min(from, to);
  FeatureWords all;
  add_plain(all, words);
  constexpr size_t near = 4;
  add_around(all, "near", words, from - std::min(from, near), std::min(n, to + near), from, to);
  size_t begin = from, end = to;
  while (begin > 0 && !ends_clause(words[begin - 1])) --begin;
  while (end < n && !ends_clause(words[end])) ++end;
  add_around(all, "clause", words, begin, end, from, to);
  for (size_t i = from; i < to; ++i) all.add(marked("phrase", words[i]), i);
  return all;
}

}  // namespace fovea
