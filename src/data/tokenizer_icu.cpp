// All that is asked of ICU.
#include <unicode/ubrk.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/sentences.h"
#include "fovea/data/tokenizer_words.h"

namespace fovea {
namespace {

struct Close {
  void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
};

// An iterator has a state: one for each thread. The root locale, so that the user's does not count.
std::unique_ptr<UBreakIterator, Close> open_iterator(UBreakIteratorType type) {
  UErrorCode status = U_ZERO_ERROR;
  std::unique_ptr<UBreakIterator, Close> made(ubrk_open(type, "", nullptr, 0, &status));
  check(U_SUCCESS(status), "tokens: ICU has no rules for words and sentences (",
        u_errorName(status), "); install its data, Debian's package libicu72");
  return made;
}

// Adds where the parts of a text end, in bytes.
void find_ends(UBreakIterator* iterator, std::string_view text, std::vector<size_t>& ends) {
  thread_local std::vector<UChar> units;
  thread_local std::vector<size_t> places;  // of each unit in `text`
  units.clear(), places.clear();
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    const int32_t value = point.value < 0 ? 0xfffd : point.value;
    places.push_back(at);
    if (value < 0x10000) {
      units.push_back(static_cast<UChar>(value));
    } else {
      units.push_back(static_cast<UChar>(U16_LEAD(value)));
      units.push_back(static_cast<UChar>(U16_TRAIL(value)));
      places.push_back(at);
    }
    at += point.bytes;
  }
  places.push_back(text.size());
  UErrorCode status = U_ZERO_ERROR;
  ubrk_setText(iterator, units.data(), static_cast<int32_t>(units.size()), &status);
  check(U_SUCCESS(status), "tokens: ICU could not read a text (", u_errorName(status), ")");
  for (int32_t end; (end = ubrk_next(iterator)) != UBRK_DONE;) {
    ends.push_back(places[static_cast<size_t>(end)]);
  }
}

WordClass class_by_icu(int32_t code_point) {
  if (code_point == '@') return WordClass::letter;  // as ICU tailors it
  if (u_getIntPropertyValue(code_point, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT) {
    return WordClass::complex;
  }
  switch (u_getIntPropertyValue(code_point, UCHAR_WORD_BREAK)) {
    case U_WB_OTHER:
    case U_WB_CR:
    case U_WB_LF:
    case U_WB_NEWLINE:
    case U_WB_DOUBLE_QUOTE:
    case U_WB_WSEGSPACE:
      return WordClass::other;
    case U_WB_ALETTER:
      return WordClass::letter;
    case U_WB_NUMERIC:
      return WordClass::number;
    case U_WB_EXTENDNUMLET:
      return WordClass::joiner;
    case U_WB_MIDLETTER:
      return code_point == ':' ? WordClass::other : WordClass::mid_letter;  // as ICU tailors it
    case U_WB_MIDNUM:
      return WordClass::mid_number;
    case U_WB_MIDNUMLET:
    case U_WB_SINGLE_QUOTE:
      return WordClass::mid_both;
    default:
      return WordClass::complex;
  }
}

}  // namespace

WordClass word_class(int32_t code_point) {
  // Above begin the scripts of East Asia and what is rare.
  constexpr int32_t end = 0x3000;
  static const std::array<WordClass, end> table = [] {
    std::array<WordClass, end> made{};
    for (int32_t i = 0; i < end; ++i) made[static_cast<size_t>(i)] = class_by_icu(i);
    return made;
  }();
  if (code_point < 0) return WordClass::other;
  return code_point < end ? table[static_cast<size_t>(code_point)] : WordClass::complex;
}

void icu_word_ends(std::string_view text, std::vector<size_t>& ends) {
  thread_local const auto iterator = open_iterator(UBRK_WORD);
  find_ends(iterator.get(), text, ends);
}

std::vector<size_t> sentence_ends(std::string_view text) {
  thread_local const auto iterator = open_iterator(UBRK_SENTENCE);
  std::vector<size_t> ends;
  find_ends(iterator.get(), text, ends);
  // Text that is tokenised already, where Unicode's rules want a capital behind a full stop.
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    const bool stop = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (stop && text[i - 1] == ' ' && text[i + 1] == ' ') ends.push_back(i + 2);
  }
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace fovea
