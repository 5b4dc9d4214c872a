// Rows of made-up sentences, labels, numbers and tags: files to try readers and searches with.
#pragma once

#include <functional>
#include <string>

#include "fovea/base/random.h"

namespace fovea::test {

// A sentence that hardly repeats.
inline std::string sentence(Random& random, int words = 8) {
  static const char* list[] = {"river",  "green", "walks", "over",  "stone", "under", "light",
                               "window", "seven", "paper", "cloud", "quick", "north", "table"};
  std::string text;
  for (int i = 0; i < words; ++i) {
    text += (i ? " " : "") + std::string(list[random.below(14)]);
    if (random.below(3) == 0) text += std::to_string(random.below(90));
  }
  return text;
}
inline std::string number(Random& random) { return std::to_string(random.normal()).substr(0, 6); }

using Row = std::function<std::string(Random&, int)>;

// `n` rows below a header, if there is one.
inline std::string rows(const Row& row, int n = 60, const std::string& header = "") {
  Random random(1);
  std::string text = header.empty() ? "" : header + "\n";
  for (int i = 0; i < n; ++i) text += row(random, i) + "\n";
  return text;
}

inline std::string label(int i) { return i % 3 == 0 ? "sport" : i % 3 == 1 ? "news" : "weather"; }
inline std::string digit(int i) { return std::to_string(i % 2); }
inline std::string conll(Random& r, int, const std::string& between,
                         const std::string& before = "") {
  std::string text = before;
  const int words = 3 + static_cast<int>(r.below(5));
  for (int i = 0; i < words; ++i) {
    text += sentence(r, 1) + between + (r.below(3) == 0 ? "B-LOC" : "O") + "\n";
  }
  return text;
}
inline std::string conllu(Random& r) {
  std::string text = "# sent_id = 1\n";
  for (int i = 1; i <= 4; ++i) {
    const std::string word = sentence(r, 1);
    text += std::to_string(i) + "\t" + word + "\t" + word + "\tNOUN\tNN\t_\t0\troot\t_\t_\n";
  }
  return text;
}

}  // namespace fovea::test
