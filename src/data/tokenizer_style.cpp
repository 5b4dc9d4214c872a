#include "fovea/data/tokenizer_style.h"

#include <array>
#include <cctype>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr size_t enough_lines = 20'000;
constexpr std::string_view ascii_signs = ".,;:!?()\"";
constexpr std::array<std::string_view, 10> wide_signs{"“", "”",  "„",  "«",  "»",
                                                      "…", "。", "，", "！", "？"};

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

// Bytes of the sign that the text begins or ends with; 0: none.
size_t sign_at_begin(std::string_view text) {
  if (text.empty()) return 0;
  if (ascii_signs.find(text[0]) != std::string_view::npos) return 1;
  for (const std::string_view sign : wide_signs) {
    if (text.starts_with(sign)) return sign.size();
  }
  return 0;
}
size_t sign_at_end(std::string_view text) {
  if (text.empty()) return 0;
  if (ascii_signs.find(text.back()) != std::string_view::npos) return 1;
  for (const std::string_view sign : wide_signs) {
    if (text.ends_with(sign)) return sign.size();
  }
  return 0;
}
size_t signs_before(std::string_view word) {
  size_t at = 0;
  while (const size_t bytes = sign_at_begin(word.substr(at))) at += bytes;
  return at;
}
size_t signs_behind(std::string_view word) {
  size_t left = word.size();
  while (const size_t bytes = sign_at_end(word.substr(0, left))) left -= bytes;
  return word.size() - left;
}

// such,with and it...because; not 1,000, U.S, 10:30 or http://x.
bool has_inner_sign(std::string_view word) {
  const auto is_letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || static_cast<signed char>(c) < 0;
  };
  if (word.find("://") != std::string_view::npos) return false;
  for (size_t i = 1; i + 1 < word.size(); ++i) {
    if (!is_letter(word[i - 1])) continue;
    const std::string_view rest = word.substr(i);
    if (rest.starts_with("..")) return true;
    if (std::string_view(",;!?\"").find(rest[0]) != std::string_view::npos && is_letter(rest[1])) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string TokenStyle::reason() const {
  const auto counts = say(apart, " points and commas stand apart, ", joined, " behind a word");
  if (tokenised)
    return say("the text is tokenised already (", counts, "): tokens are split at spaces");
  return say("the text is raw (", counts, "): words are found by Unicode's rules");
}

bool looks_raw(std::string_view text, const WordRules& rules) {
  const auto parts = split_at_spaces(text);
  int64_t apart = 0, joined = 0;
  bool surely = false, clitic = false;
  for (const std::string_view word : parts) {
    const size_t before = signs_before(word), behind = signs_behind(word);
    if (before == word.size() || word == "''" || word == "``") {
      ++apart;
      continue;
    }
    // One point may be an abbreviation's.
    const bool point = before == 0 && behind == 1 && word.back() == '.';
    const bool sign = before + behind > 0 || has_inner_sign(word);
    joined += sign;
    surely = surely || (sign && !point);
    clitic = clitic || has_inner_clitic(word);
  }
  if (joined != apart) return joined > apart;
  if (surely) return true;
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
