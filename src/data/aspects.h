// Phrases inside of sentences, each with a label: what aspect-based sentiment analysis learns from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct Aspect {
  std::string text;           // the whole sentence, the phrase in its place
  size_t begin = 0, end = 0;  // of the phrase, in bytes
  std::string label;          // what the sentence says of it: "positive"

  // The phrase itself, good as long as `text` is.
  std::string_view phrase() const { return std::string_view(text).substr(begin, end - begin); }
};

// Where a phrase stands in its sentence: the first place at which it is no part of a longer word,
// else the first of all; npos where it does not come.
size_t find_phrase(std::string_view sentence, std::string_view phrase);

// A sentence with $T$ in the place of its phrase, or one that holds it: then as find_phrase has it.
// An Error that begins with `where` if it does neither.
Aspect aspect_of(const std::string& where, std::string_view sentence, std::string_view phrase,
                 std::string_view label);

// Told by content: three lines an example (sentence with $T$, phrase, label); the XML of SemEval
// 2014 to 2016 and MAMS (aspectTerm or Opinion elements; without a phrase, as NULL, they are passed
// over); or columns in the roles label, text and phrase.
std::vector<Aspect> read_aspects(const std::string& path, const ReadOptions& options,
                                 ReadSummary* summary = nullptr);

// The XML alone, of text that is there already.
std::vector<Aspect> parse_aspect_xml(const std::string& path, std::string_view text);

}  // namespace fovea
