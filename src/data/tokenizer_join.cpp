#include "fovea/data/tokenizer_join.h"

#include <algorithm>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

bool is_in(std::string_view word, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, word) != list.end();
}

bool closes(std::string_view word) {
  if (is_in(word, {")",   "]",  "}",  "%",  "…",   "’",   "”",   "»",   "'s", "n't", "'re", "'ve",
                   "'ll", "'d", "'m", "’s", "n’t", "’re", "’ve", "’ll", "’d", "’m",  "°"})) {
    return true;
  }
  return word.find_first_not_of(",.!?;:") == std::string_view::npos;
}

bool opens(std::string_view word) {
  return is_in(word, {"(", "[", "{", "“", "„", "‘", "‚", "«", "¿", "¡", "$", "£", "€", "#", "@"}) ||
         (word.size() > 1 && (word.ends_with('\'') || word.ends_with("’")) && word[0] != '\'');
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int32_t last_code_point(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return first_code_point(text.substr(at)).value;
}

// Han, kana, and the scripts from Thai to Khmer; the signs and wide forms of East Asia.
bool writes_no_spaces(int32_t c) {
  return (c >= 0x0e00 && c < 0x0f00) || (c >= 0x1000 && c < 0x10a0) ||
         (c >= 0x1780 && c < 0x1800) || (c >= 0x3000 && c < 0x3130) ||
         (c >= 0x31f0 && c < 0xa000) || (c >= 0xf900 && c < 0xfb00) ||
         (c >= 0xff00 && c < 0xfff0) || (c >= 0x20000 && c < 0x32000);
}

}  // namespace

std::string join_words(std::span<const std::string_view> words) {
  std::string text;
  bool glue = true;  // nothing between the last word and the next
  bool open_double = false, open_single = false, open_low = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.empty()) continue;
    const bool last = i + 1 == words.size();
    bool left = closes(word), right = opens(word);
    if (word == "„" || word == "‚") open_low = true;
    if (open_low && (word == "“" || word == "‘")) {  // German closes with what English opens with
      left = true, right = open_low = false;
    } else if (word == "\"") {
      left = open_double, right = !open_double;
      open_double = !open_double;
    } else if (word == "'") {
      const auto later = words.subspan(i + 1);
      right = !open_single && std::ranges::find(later, word) != later.end();
      left = !right;
      open_single = right;
    } else if (word == "-" || word == "/") {
      left = right = i > 0 && !last;
      right = right && !(word == "-" &&
                         is_in(words[i + 1], {"and", "or", "und", "oder"}));  // Vor- und Nachteile
    } else if (word == ":" && i > 0 && !last) {
      right = is_digit(words[i - 1].back()) && is_digit(words[i + 1].front());
    }
    if (!glue && !left &&
        !(writes_no_spaces(last_code_point(text)) &&
          writes_no_spaces(first_code_point(word).value))) {
      text += ' ';
    }
    text += word;
    glue = right;
  }
  return text;
}

}  // namespace fovea
