// Whether texts are raw, or tokenised already as corpora often are: " ." and " ," in place of
// "word."
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fovea/data/tokenizer_words.h"

namespace fovea {

// What a sample of texts shows.
struct TokenStyle {
  bool tokenised = false;  // else it is raw
  // How it was tokenised; raw text has to be split so to fit it (Tokenizer::split_as).
  WordRules rules;
  int64_t apart = 0, joined = 0;              // points and commas behind a space; behind a word
  int64_t lines_apart = 0, lines_joined = 0;  // lines that have any of them

  // The kind of tokens that fits: "spaces" or "words".
  std::string kind() const { return tokenised ? "spaces" : "words"; }
  // One sentence with the counts, for whoever wonders why.
  std::string reason() const;
};

// Tokenised is what has points or commas that stand apart in most of the lines which have any at
// all, and four times as many of them as of the others. Other signs do not count: French puts
// spaces before ? and !.
TokenStyle detect_tokens(std::span<const std::string> sample);

// Whether one text is rather raw than split already by these rules: more signs are joined to words
// than stand apart, or as many where one of them is no abbreviation's point; or without any of them
// a word holds what the rules part, or the text has no spaces at all and is several words.
bool looks_raw(std::string_view text, const WordRules& rules);

}  // namespace fovea
