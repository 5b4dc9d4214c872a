// Characters and words: how texts are split into them, and what is learned from texts.
#pragma once

#include "fovea/data/tokenizer.h"

namespace fovea {

// Appends what options.kind (chars, spaces, words) finds in the text, in order, as it stands there.
void split_units(const TokenizerOptions& options, std::string_view text,
                 std::vector<std::string_view>& units);

// Whether forms of a word that differ in case may share a number.
bool folds(const TokenizerOptions& options);
// What such forms have in common: the word in lower case, the sign of a run (! of !!!).
std::string folded(std::string_view word);

// In the order of their numbers.
std::vector<std::string> learn_names(const TokenizerOptions& options,
                                     std::span<const std::string> texts);

}  // namespace fovea
