// A text as what it is made of: which groups of words and of letters it has, each with a weight
// that says how much it tells (TF-IDF; Sparck Jones 1972). What linear models read.
//   value = (1 + log tf) (1 + log((1 + n) / (1 + df))),  of words and of letters each of length 1
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "fovea/data/feature_index.h"

namespace fovea {

struct NgramOptions {
  int64_t words = 2;    // groups of 1 to so many words
  int64_t letters = 5;  // groups of 2 to so many letters of one word, its ends counted; 0: none
  int64_t least = 2;    // those of fewer texts are left out
  int64_t most = 0;     // most of them; 0: all
};

// A word as another feature than it is by itself or with any other mark: of the second text, near a
// phrase. It has no groups of letters, and groups of words are all of one mark.
std::string marked(std::string_view mark, std::string_view word);

// The groups that are known from many texts, and how much each tells.
class Ngrams {
 public:
  Ngrams() = default;
  // words_of(i): the words of text i, in the form that counts. Asked for twice.
  static Ngrams learn(const NgramOptions& options, int64_t texts,
                      const std::function<std::vector<std::string>(int64_t)>& words_of);

  // A known group of a text.
  struct Value {
    int32_t id;   // its number, from 0 to size() - 1
    float value;  // by the equation above
  };
  // Of a text, by id.
  std::vector<Value> values(std::span<const std::string> words) const;

  // A group of known words or letters, each time it comes, and the words [first, last] it is of.
  struct Place {
    int32_t id;           // of the group
    float value;          // its part of the group's value
    int32_t first, last;  // from 0
  };
  // Of a text, from its first word on.
  std::vector<Place> places(std::span<const std::string> words) const;

  // How many groups are known.
  int64_t size() const { return index_.size(); }
  // To FOLDER/NAME.safetensors, and back.
  void save(const std::string& folder, const std::string& name) const;
  static Ngrams load(const std::string& folder, const std::string& name);

 private:
  NgramOptions options_;
  FeatureIndex index_;
  std::vector<float> weight_;  // by document frequency; below 0 of letters
};

}  // namespace fovea
