// What an example that is more than one text is to a linear model: a list of words for n-grams, in
// which a mark on a word says where it stands (marked() in data/ngrams.h). A weighted vote cannot
// compare two texts or find a phrase by itself, so the list says it.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace fovea {

struct FeatureWords {
  std::vector<std::string> words;  // plain or marked, in the form that counts
  // Of each word the token of the example that it is, -1: none; empty: word i is token i.
  std::vector<int32_t> tokens{};

  void add(std::string word, size_t token);  // one that is such a token
  void add(std::string word);                // one that is none
};

// Of each word 1 where the other text has it too, else 0.
std::vector<float> shared_words(std::span<const std::string> words,
                                std::span<const std::string> other);

// The words of both texts, those that both have, and in tenths how many of each text's words, and
// of its words of more than three letters, the other has. Tokens go on from the first to the
// second.
FeatureWords words_of_pair(std::span<const std::string> first, std::span<const std::string> second);

// The words of a text and, by name, about how far each number is from its mean, in deviations; NaN
// is one that is not known. Numbers are tokens behind those of the text.
FeatureWords words_of_record(std::span<const std::string> text, std::span<const std::string> names,
                             std::span<const double> deviations);

// The words of a sentence; those at most four from its phrase, the tokens [from, to); those of its
// clause, which signs and a few English words end; and those of the phrase, in whose place among
// its neighbours $T$ stands.
FeatureWords words_of_phrase(std::span<const std::string> words, size_t from, size_t to);

}  // namespace fovea
