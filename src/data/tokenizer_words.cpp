#include "fovea/data/tokenizer_words.h"

#include <algorithm>
#include <array>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// What the bytes of a stretch between spaces are, as bits: most stretches need no closer look.
enum : unsigned char { letter = 1, space = 2, end_mark = 4, wide = 8, whole_mark = 16, rest = 32 };

constexpr std::array<unsigned char, 256> byte_kinds = [] {
  std::array<unsigned char, 256> kinds{};
  for (int c = 0; c < 256; ++c) {
    unsigned char& kind = kinds[static_cast<size_t>(c)];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) kind = letter;
    if (c == ' ' || (c >= '\t' && c <= '\r')) kind = space;
    if (c >= 0x80) kind = wide;
    for (const char mark : {',', '.', '!', '?'}) kind |= c == mark ? end_mark : 0;
    for (const char mark : {'@', '#', ':', ';', '=', '<'}) kind |= c == mark ? whole_mark : 0;
    if (kind == 0) kind = rest;
  }
  return kinds;
}();

unsigned char kind_of(char c) { return byte_kinds[static_cast<unsigned char>(c)]; }
bool is_letter(char c) { return kind_of(c) == letter; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Signs whose runs are one token: those of ASCII but brackets and double quotes; dashes, ellipsis.
bool is_sign(std::string_view part) {
  if (part.size() == 3) return part >= "\u2010" && part <= "\u2015" ? true : part == "\u2026";
  if (part.size() != 1) return false;
  const char c = part[0];
  return c > ' ' && c < 127 && !is_letter(c) && !is_digit(c) &&
         std::string_view("()[]{}\"").find(c) == std::string_view::npos;
}

bool is_word(std::string_view part) {
  if (part.empty()) return false;
  if (kind_of(part[0]) != wide) return is_letter(part[0]) || is_digit(part[0]);
  const WordClass kind = word_class(first_code_point(part).value);
  return kind == WordClass::letter || kind == WordClass::number;
}

size_t apostrophe_at(std::string_view text, size_t at) {  // its bytes
  if (at < text.size() && text[at] == '\'') return 1;
  return text.substr(at).starts_with("\u2019") ? 3 : 0;
}

bool equals_folded(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, {}, lower);
}

template <size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::ranges::any_of(list, [&](std::string_view s) { return equals_folded(text, s); });
}

// U.S, e.g: letters with a point between each two.
bool is_initials(std::string_view part) {
  if (part.size() < 3 || part.size() % 2 == 0) return false;
  for (size_t i = 0; i < part.size(); ++i) {
    if (i % 2 == 0 ? !is_letter(part[i]) : part[i] != '.') return false;
  }
  return true;
}

bool starts_with_vowel(std::string_view text) {
  if (text.empty()) return false;
  static constexpr std::string_view plain = "aeiouyh";
  if (kind_of(text[0]) != wide) return plain.find(lower(text[0])) != std::string_view::npos;
  for (const std::string_view v :
       {"à", "â", "é", "è", "ê", "î", "ï", "ô", "œ", "û", "À", "Â", "É", "È", "Ê", "Î", "Ô", "Œ"}) {
    if (text.starts_with(v)) return true;
  }
  return false;
}

constexpr std::array<std::string_view, 24> elided{
    "c",    "d",     "j",      "l",      "m",      "n",    "s",   "t",
    "qu",   "jusqu", "lorsqu", "puisqu", "quoiqu", "dell", "all", "nell",
    "sull", "dall",  "un",     "quest",  "quell",  "dov",  "com", "gl"};
constexpr std::array<std::string_view, 12> titles{"mr", "mrs", "ms", "dr",  "prof", "st",
                                                  "vs", "jr",  "sr", "inc", "corp", "ltd"};
constexpr size_t longest_title = 4;
constexpr std::array<std::string_view, 7> clitics{"s", "re", "ve", "ll", "d", "m", "em"};

bool is_title(std::string_view word) {
  return word.size() <= longest_title && is_one_of(word, titles);
}

class Splitter {
 public:
  Splitter(const WordRules& rules, bool fast, std::vector<std::string_view>& words)
      : rules_(rules), fast_(fast), words_(words) {}

  void split(std::string_view text) {
    const char *at = text.data(), *end = at + text.size();
    while (true) {
      while (at < end && kind_of(*at) == space) ++at;
      if (at == end) return;
      const char* const from = at;
      while (at < end && kind_of(*at) == letter) ++at;
      const char* const letters_end = at;
      unsigned char kinds = 0;
      while (at < end && kind_of(*at) != space) kinds |= kind_of(*at++);
      if (kinds == 0 && fast_) {
        plain_word({from, at});
      } else if (kinds == end_mark && at - letters_end == 1 && letters_end > from && fast_) {
        const std::string_view word(from, letters_end);
        const bool title = *letters_end == '.' && is_title(word);
        plain_word({from, title ? at : letters_end});
        if (!title) words_.emplace_back(letters_end, at);
      } else {
        stretch({from, at}, letters_end > from ? kinds | letter : kinds);
      }
    }
  }

 private:
  void plain_word(std::string_view word) {
    const size_t cut = rules_.clitics && equals_folded(word, "cannot") ? 3 : 0;
    if (cut > 0) words_.push_back(word.substr(0, cut));
    words_.push_back(word.substr(cut));
  }

  // No white space of ASCII inside.
  void stretch(std::string_view s, unsigned kinds) {
    const bool dotted = (kinds & end_mark) != 0;
    if ((kinds & whole_mark) ||
        (dotted && (s.find("www.") != s.npos || s.find("WWW.") != s.npos))) {
      const char* at = s.data();
      for (const std::string_view whole : find_whole_words(s)) {
        part({at, whole.data()});
        words_.push_back(whole);
        at = whole.data() + whole.size();
      }
      part({at, s.data() + s.size()});
    } else {
      part(s);
    }
  }

  void part(std::string_view s) {
    if (s.empty()) return;
    ends_.clear();
    if (!fast_ || !segment(s)) {
      ends_.clear();
      icu_word_ends(s, ends_);
    }
    join(s);
  }

  // UAX #29 for classes that need no look at more than their neighbours; false: ICU is needed.
  bool segment(std::string_view s) {
    classes_.clear(), places_.clear();
    for (size_t at = 0; at < s.size();) {
      const auto byte = static_cast<unsigned char>(s[at]);
      const CodePoint point = byte < 0x80 ? CodePoint{byte, 1} : first_code_point(s.substr(at));
      const WordClass kind = word_class(point.value);
      if (kind == WordClass::complex) return false;
      classes_.push_back(kind);
      places_.push_back(at);
      at += point.bytes;
    }
    const size_t n = classes_.size();
    places_.push_back(s.size());
    const auto solid = [&](size_t i) {
      return i < n && classes_[i] >= WordClass::letter && classes_[i] <= WordClass::joiner;
    };
    for (size_t i = 0; i < n;) {
      if (solid(i++)) {
        while (solid(i) || (i + 1 < n && holds(classes_[i - 1], classes_[i], classes_[i + 1]))) ++i;
      }
      ends_.push_back(places_[i]);
    }
    return true;
  }

  // WB6, WB7, WB11, WB12.
  static bool holds(WordClass left, WordClass middle, WordClass right) {
    if (left != right || middle == WordClass::other) return false;
    return (left == WordClass::letter &&
            (middle == WordClass::mid_letter || middle == WordClass::mid_both)) ||
           (left == WordClass::number &&
            (middle == WordClass::mid_number || middle == WordClass::mid_both));
  }

  // Puts segments together where people see one token.
  void join(std::string_view s) {
    const size_t n = ends_.size();
    const auto segment = [&](size_t i) {
      const size_t from = i == 0 ? 0 : ends_[i - 1];
      return i < n ? s.substr(from, ends_[i] - from) : std::string_view();
    };
    for (size_t i = 0; i < n;) {
      std::string_view token = segment(i++);
      const auto take = [&](size_t count) {
        for (; count > 0; --count) token = {token.data(), token.size() + segment(i++).size()};
      };
      if (is_sign(token)) {
        const std::string_view sign = token;
        while (segment(i) == sign) take(1);
        if (rules_.clitics && apostrophe_at(token, 0) == token.size() &&
            is_one_of(segment(i), clitics)) {
          take(1);  // 's, in a text that is tokenised already
        }
      } else if (is_word(token)) {
        while (is_digit(token.back()) &&
               (segment(i) == ":" || segment(i) == "/" || segment(i) == "-") &&
               !segment(i + 1).empty() && is_digit(segment(i + 1)[0])) {
          take(2);
        }
        if (segment(i) == "." && segment(i + 1) != "." && (is_initials(token) || is_title(token))) {
          take(1);
        }
        while (rules_.compounds && segment(i) == "-" && is_word(segment(i + 1))) take(2);
      }
      part_words(token);
    }
  }

  // Takes apart what UAX #29 leaves together.
  void part_words(std::string_view token) {
    size_t from = 0;
    for (size_t i = 1; i + 1 < token.size(); ++i) {
      if (token[i] == '.' && token[i - 1] >= 'a' && token[i - 1] <= 'z' && token[i + 1] >= 'A' &&
          token[i + 1] <= 'Z') {
        add(token.substr(from, i - from));
        add(token.substr(i, 1));
        from = i + 1;
      } else if (const size_t mark = apostrophe_at(token, i); mark > 0) {
        const std::string_view head = token.substr(from, i - from);
        if (is_one_of(head, elided) && starts_with_vowel(token.substr(i + mark))) {
          add(token.substr(from, i + mark - from));
          from = i + mark;
        }
      }
    }
    const std::string_view last = token.substr(from);
    const size_t cut = rules_.clitics ? clitic_at(last) : 0;
    if (cut > 0) add(last.substr(0, cut));
    add(last.substr(cut));
  }

  static size_t clitic_at(std::string_view word) {
    if (equals_folded(word, "cannot")) return 3;
    for (size_t i = word.size(); i-- > 1;) {
      const size_t mark = apostrophe_at(word, i);
      if (mark == 0) continue;
      const std::string_view tail = word.substr(i + mark);
      if (equals_folded(tail, "t") && lower(word[i - 1]) == 'n') return i - 1;
      return is_one_of(tail, clitics) ? i : 0;
    }
    return 0;
  }

  void add(std::string_view token) {
    while (!token.empty() && kind_of(token[0]) == wide && is_space(first_code_point(token).value)) {
      token.remove_prefix(first_code_point(token).bytes);
    }
    if (!token.empty()) words_.push_back(token);
  }

  const WordRules rules_;
  const bool fast_;
  std::vector<std::string_view>& words_;
  std::vector<size_t> ends_, places_;
  std::vector<WordClass> classes_;
};

}  // namespace

void split_words(std::string_view text, const WordRules& rules,
                 std::vector<std::string_view>& words) {
  Splitter(rules, true, words).split(text);
}

void split_words_by_icu(std::string_view text, const WordRules& rules,
                        std::vector<std::string_view>& words) {
  Splitter(rules, false, words).split(text);
}

}  // namespace fovea
