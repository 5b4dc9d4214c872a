#include "fovea/train/answer_metrics.h"

#include <utf8proc.h>

#include <algorithm>
#include <map>
#include <vector>

#include "fovea/base/utf8.h"

namespace fovea {
namespace {

// Python's string.punctuation.
bool is_mark(int32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}
// What \w of Python's re takes: letters and numbers of any kind (the underscore is a mark).
bool is_word(int32_t c) {
  if (c < 0) return false;
  const auto category = utf8proc_category(c);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
         (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO);
}
// What Python's str.split() splits at.
bool is_blank(int32_t c) {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}
bool has_case(int32_t c) {
  return utf8proc_category(c) == UTF8PROC_CATEGORY_LU ||
         utf8proc_category(c) == UTF8PROC_CATEGORY_LL ||
         utf8proc_category(c) == UTF8PROC_CATEGORY_LT;
}
// What Unicode's rule for a final sigma looks past.
bool is_case_ignorable(int32_t c) {
  const auto category = utf8proc_category(c);
  return c == '\'' || c == '.' || c == ':' || c == '^' || c == '`' || c == 0xa8 || c == 0xad ||
         c == 0xb7 || c == 0x2019 || category == UTF8PROC_CATEGORY_MN ||
         category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK;
}

// At the end of a word: a letter stands before it and none behind.
bool is_final(const std::vector<int32_t>& text, size_t i) {
  size_t before = i, behind = i + 1;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  while (behind < text.size() && is_case_ignorable(text[behind])) ++behind;
  return before > 0 && has_case(text[before - 1]) &&
         (behind == text.size() || !has_case(text[behind]));
}

// As Python's str.lower(): two letters become something else than their simple mapping.
std::vector<int32_t> lowered(std::string_view text) {
  std::vector<int32_t> all, lower;
  for (size_t at = 0; at < text.size();) {
    const CodePoint one = first_code_point(text.substr(at));
    // A byte that is no UTF-8 stays what it is, and equal to itself.
    all.push_back(one.value >= 0 ? one.value : -1 - static_cast<unsigned char>(text[at]));
    at += one.bytes;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == 0x130) {
      lower.push_back('i'), lower.push_back(0x307);
    } else if (all[i] == 0x3a3) {
      lower.push_back(is_final(all, i) ? 0x3c2 : 0x3c3);
    } else {
      lower.push_back(all[i] < 0 ? all[i] : utf8proc_tolower(all[i]));
    }
  }
  return lower;
}

bool is_article(const std::vector<int32_t>& text, size_t from, size_t to) {
  static constexpr std::string_view articles[] = {"a", "an", "the"};
  return std::ranges::any_of(articles, [&](std::string_view word) {
    return word.size() == to - from &&
           std::equal(word.begin(), word.end(), text.begin() + static_cast<int64_t>(from));
  });
}

using Words = std::vector<std::string>;

Words words_of(std::string_view answer) {
  std::vector<int32_t> text = lowered(answer);
  std::erase_if(text, is_mark);
  Words words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  for (size_t i = 0; i < text.size();) {
    size_t to = i;
    while (to < text.size() && is_word(text[to])) ++to;
    if (to > i && is_article(text, i, to)) {
      end();
    } else if (to == i) {
      ++to;
      if (is_blank(text[i])) {
        end();
      } else if (text[i] >= 0) {
        append_code_point(word, static_cast<uint32_t>(text[i]));
      } else {
        word += static_cast<char>(-1 - text[i]);
      }
    } else {
      for (size_t k = i; k < to; ++k) append_code_point(word, static_cast<uint32_t>(text[k]));
    }
    i = to;
  }
  end();
  return words;
}

double f1_of(const Words& answer, const Words& truth, AnswerRules rules) {
  if (rules == AnswerRules::squad_2 && (answer.empty() || truth.empty())) return answer == truth;
  std::map<std::string_view, int64_t> counts;
  for (const std::string& word : truth) ++counts[word];
  double same = 0;
  for (const std::string& word : answer) same += counts[word]-- > 0;
  if (same == 0) return 0;
  const double precision = same / static_cast<double>(answer.size()),
               recall = same / static_cast<double>(truth.size());
  return 2 * precision * recall / (precision + recall);
}

// By the rules of 2.0, truths of which nothing is left do not count, and none is the empty one.
std::vector<Words> counted(std::span<const std::string> truths, AnswerRules rules) {
  std::vector<Words> all;
  for (const std::string& truth : truths) {
    Words words = words_of(truth);
    if (rules == AnswerRules::squad_1 || !words.empty()) all.push_back(std::move(words));
  }
  if (all.empty() && rules == AnswerRules::squad_2) all.emplace_back();
  return all;
}

}  // namespace

std::string normalised_answer(std::string_view answer) {
  std::string text;
  for (const std::string& word : words_of(answer)) text += (text.empty() ? "" : " ") + word;
  return text;
}

Tally answer_em_tally(std::string_view answer, std::span<const std::string> truths,
                      AnswerRules rules) {
  const Words words = words_of(answer);
  const auto all = counted(truths, rules);
  return {std::ranges::find(all, words) != all.end() ? 1.0 : 0.0, 1};
}

Tally answer_f1_tally(std::string_view answer, std::span<const std::string> truths,
                      AnswerRules rules) {
  const Words words = words_of(answer);
  double best = 0;
  for (const Words& truth : counted(truths, rules))
    best = std::max(best, f1_of(words, truth, rules));
  return {best, 1};
}

}  // namespace fovea
