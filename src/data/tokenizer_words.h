// Words and signs of raw text by Unicode's rules: UAX #29, "Unicode text segmentation", with ICU's
// dictionaries for Chinese, Japanese, Thai, Lao, Khmer and Burmese, which write no spaces.
//
// Beyond UAX #29, in every language:
// - an apostrophe between two letters does not part them, so "don't" is one word (UAX #29's own
//   rule WB6), but an elided article or pronoun does stand alone: "l'homme" is l' homme, "qu'il" is
//   qu' il (c d j l m n s t qu ... before a vowel or h; dell' all' un' ... of Italian);
// - a number keeps its points and commas (3.14 1,000: WB12), times, dates and telephone numbers
//   their colons, slashes and hyphens (10:30 1/2/2024 555-1234);
// - a run of one sign is one token (-- ... !!! ===), but not of brackets and double quotes;
// - initials and a dozen titles keep their last point (U.S. e.g. Mr. Inc.); a point between a small
// and a capital letter is the
//   end of a sentence that lacks its space (good.The);
// - web and mail addresses, @names, #tags, emoticons and sequences of emoji stay whole.
#pragma once

#include <string_view>
#include <vector>

namespace fovea {

// What corpora do differently from one another; detect_tokens() finds out which.
struct WordRules {
  bool clitics = false;    // do n't, it 's, we 'll, can not: as treebanks of English have them
  bool compounds = false;  // well-made is one word; else three, as UAX #29 has it
};

// Appends the words of `text`, in order; white space is none. Bytes that are not UTF-8 stand alone.
// ASCII and plain letters of other scripts go through a machine of our own, the rest through ICU.
void split_words(std::string_view text, const WordRules& rules,
                 std::vector<std::string_view>& words);

// The same with ICU alone, several times as slow: what the fast way is tested against.
void split_words_by_icu(std::string_view text, const WordRules& rules,
                        std::vector<std::string_view>& words);

// Addresses, names, tags and emoticons in a stretch without white space, in order.
std::vector<std::string_view> find_whole_words(std::string_view stretch);

// Appends where the segments of UAX #29 in `text` end, in bytes, by ICU.
void icu_word_ends(std::string_view text, std::vector<size_t>& ends);

// What a character is to UAX #29. `complex` needs ICU: it joins what stands before it, or a
// dictionary decides.
enum class WordClass : unsigned char {
  other,
  letter,
  number,
  joiner,      // an underscore and its like
  mid_letter,  // holds letters together
  mid_number,  // holds numbers together
  mid_both,    // both
  complex
};
// Of any code point.
WordClass word_class(int32_t code_point);

}  // namespace fovea
