#include "fovea/data/tokenizer_style.h"

#include <cctype>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t enough_lines = 20'000;

bool is_clitic(std::string_view word) {
  for (const std::string_view clitic : {"'s", "n't", "'re", "'ve", "'ll", "'d", "'m"}) {
    if (word == clitic) return true;
  }
  return false;
}

bool has_inner_clitic(std::string_view word) {
  const size_t mark = word.rfind('\'');
  if (mark == std::string_view::npos || mark == 0) return false;
  return is_clitic(word.substr(mark)) || (word.ends_with("n't") && word.size() > 3);
}

bool has_inner_hyphen(std::string_view word) {
  const size_t mark = word.find('-', 1);
  return mark != std::string_view::npos && mark + 1 < word.size() && word[mark + 1] != '-' &&
         word[mark - 1] != '-' && word[0] != '-';
}

}  // namespace

std::string TokenStyle::reason() const {
  const auto counts = say(apart, " points and commas stand apart, ", joined, " behind a word");
  if (tokenised)
    return say("the text is tokenised already (", counts, "): tokens are split at spaces");
  return say("the text is raw (", counts, "): words are found by Unicode's rules");
}

bool looks_raw(std::string_view text, const WordRules& rules) {
  constexpr std::string_view signs = ".,;:!?()\"";
  const auto is_sign = [&](char c) { return signs.find(c) != std::string_view::npos; };
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<signed char>(c) < 0;
  };
  const auto parts = split_at_spaces(text);
  int64_t apart = 0, joined = 0;
  bool clitic = false;
  for (const std::string_view word : parts) {
    const bool all_signs = word.find_first_not_of(signs) == std::string_view::npos;
    apart += all_signs || word == "''" || word == "``";
    if (all_signs || word.size() < 2) continue;
    joined += (is_sign(word.back()) && in_word(word[word.size() - 2])) ||
              (is_sign(word.front()) && in_word(word[1]));
    clitic = clitic || has_inner_clitic(word);
  }
  if (joined != apart) return joined > apart;
  if (apart == 0 && rules.clitics && clitic) return true;
  if (parts.size() != 1) return false;
  std::vector<std::string_view> words;
  split_words(text, rules, words);
  return words.size() > 1;
}

TokenStyle detect_tokens(std::span<const std::string> sample) {
  TokenStyle style;
  int64_t clitics = 0, inner_clitics = 0, hyphens = 0, inner_hyphens = 0;
  for (const std::string& line : sample.first(std::min(sample.size(), enough_lines))) {
    const int64_t apart = style.apart, joined = style.joined;
    bool behind_word = false;
    for (const std::string_view word : split_at_spaces(line)) {
      if (word == "." || word == ",") {
        style.apart += behind_word;
      } else if (word.size() > 1 && (word.back() == '.' || word.back() == ',') &&
                 word[word.size() - 2] != '.') {
        ++style.joined;
      }
      clitics += is_clitic(word), inner_clitics += has_inner_clitic(word);
      hyphens += word == "-", inner_hyphens += has_inner_hyphen(word);
      behind_word = word != "." && word != ",";
    }
    style.lines_apart += style.apart > apart, style.lines_joined += style.joined > joined;
  }
  style.tokenised = style.apart > 4 * style.joined && style.lines_apart > style.lines_joined;
  style.rules = {.clitics = style.tokenised && clitics > inner_clitics,
                 .compounds = style.tokenised && inner_hyphens > hyphens};
  return style;
}

}  // namespace fovea
