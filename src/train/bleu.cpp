#include "fovea/train/bleu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/names.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr int orders = 4;
using NGram = std::array<std::string_view, orders>;

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_point(char c) { return c == '.' || c == ','; }
// ASCII punctuation but . , - and the apostrophe.
bool is_mark(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

// Every pair of neighbours that `match` likes gets spaces as the regular expression's replacement
// has them; like there, a matched pair is behind the scan. Bytes serve: all letters that the rules
// name are ASCII, and a rule that wants "not a digit" may as well see the end of a longer letter.
template <class Match>
std::string space_pairs(std::string_view text, Match match, bool before, bool after) {
  std::string spaced;
  spaced.reserve(text.size() * 2);
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !match(text[i], text[i + 1])) {
      spaced += text[i];
      continue;
    }
    if (before) spaced += ' ';
    spaced += text[i];
    spaced += ' ';
    spaced += text[++i];
    if (after) spaced += ' ';
  }
  return spaced;
}

// As Python splits, which takes these separators for spaces too.
std::vector<std::string_view> split(std::string& text) {
  std::ranges::replace_if(
      text, [](char c) { return c >= '\x1c' && c <= '\x1f'; }, ' ');
  return split_at_spaces(text);
}

std::vector<std::string_view> words_of(std::string& text, const BleuOptions& options) {
  if (options.lowercase) text = to_lowercase(text);
  if (options.tokenize == "13a") {
    text.erase(text.find_last_not_of(" \t\n\v\f\r") + 1);
    text = tokenize_13a(text);
  }
  return split(text);
}

// Sorted, so that two lists can be merged.
std::vector<NGram> ngrams(const std::vector<std::string_view>& words, size_t order) {
  std::vector<NGram> all;
  for (size_t i = 0; i + order <= words.size(); ++i) {
    NGram& gram = all.emplace_back();
    std::copy_n(words.begin() + static_cast<ptrdiff_t>(i), order, gram.begin());
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  for (const auto& [what, by] : {std::pair("<skipped>", ""),
                                 {"-\n", ""},
                                 {"\n", " "},
                                 {"&quot;", "\""},
                                 {"&amp;", "&"},
                                 {"&lt;", "<"},
                                 {"&gt;", ">"}}) {
    replace_all(text, what, by);
  }
  std::string spaced = " ";
  for (const char c : text) {
    if (is_mark(c)) {
      spaced.append({' ', c, ' '});
    } else {
      spaced += c;
    }
  }
  spaced += ' ';
  spaced = space_pairs(
      spaced, [](char a, char b) { return !is_digit(a) && is_point(b); }, false, true);
  spaced = space_pairs(
      spaced, [](char a, char b) { return is_point(a) && !is_digit(b); }, true, false);
  spaced = space_pairs(
      spaced, [](char a, char b) { return is_digit(a) && b == '-'; }, false, true);
  std::string joined;
  for (const std::string_view word : split(spaced)) {
    if (!joined.empty()) joined += ' ';
    joined += word;
  }
  return joined;
}

Tally bleu_tally(std::string_view hypothesis, std::string_view reference,
                 const BleuOptions& options) {
  if (options.tokenize != "none" && options.tokenize != "13a") {
    fail(unknown_name("BLEU tokenizer", options.tokenize,
                      std::array<std::string, 2>{"none", "13a"}));
  }
  std::string h(hypothesis), r(reference);
  const auto ours = words_of(h, options), theirs = words_of(r, options);
  Tally tally(2 * orders + 2);
  for (size_t order = 1; order <= orders; ++order) {
    const std::vector<NGram> a = ngrams(ours, order), b = ngrams(theirs, order);
    std::vector<NGram> both;
    std::ranges::set_intersection(a, b, std::back_inserter(both));
    tally[order - 1] = static_cast<double>(both.size());
    tally[orders + order - 1] = static_cast<double>(a.size());
  }
  tally[2 * orders] = static_cast<double>(ours.size());
  tally[2 * orders + 1] = static_cast<double>(theirs.size());
  return tally;
}

double bleu_of(const Tally& sum) {
  check(sum.size() == 2 * orders + 2, "bleu: a tally has 10 numbers, got ", sum.size());
  const double length = sum[2 * orders], wanted = sum[2 * orders + 1];
  // As there: no match at all, or no text of four words, scores 0 whatever the smoothing.
  if (sum[0] == 0 || sum[2 * orders - 1] == 0) return 0;
  double logs = 0, halving = 1;
  for (int n = 0; n < orders; ++n) {
    // Orders without matches count 1/2, 1/4, ... of a match.
    const double matches = sum[n] > 0 ? sum[n] : 1 / (halving *= 2);
    logs += std::log(matches / sum[orders + n]);
  }
  return 100 * std::exp(logs / orders + std::min(0.0, 1 - wanted / length));
}

}  // namespace fovea
