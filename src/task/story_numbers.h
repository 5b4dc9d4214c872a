// Stories and questions as numbers: ids of words, and letters where a model reads them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "fovea/data/stories.h"
#include "fovea/data/vocabulary.h"

namespace fovea {

// Sentences as numbers, made once for all questions of a story.
struct NumberedStory {
  std::vector<std::vector<int32_t>> words;  // of each sentence
  // Of each slot, where memories are such pairs.
  std::vector<std::vector<int32_t>> keys;
  std::vector<std::vector<int32_t>> values;   // what a key finds
  std::vector<std::vector<int32_t>> letters;  // of the words of each sentence, where they are read
};
// A question as numbers, and its story's.
struct NumberedStoryQuestion : StoryQuestion {
  std::shared_ptr<const NumberedStory> numbers;  // shared by the questions of a story
  std::vector<int32_t> question_ids;             // of its words
  std::vector<int32_t> question_letters;         // of these, where they are read
};

// How words become numbers.
class StoryNumbers {
 public:
  // What a word is that nobody knows.
  static constexpr int32_t unknown = 0;

  // Of no words.
  StoryNumbers() = default;
  // A word that training has hardly seen has one of `hashed` ids behind those of the vocabulary,
  // the same wherever it stands, or is unknown where there are none.
  StoryNumbers(Vocabulary words, int64_t hashed, bool letters)
      : words_(std::move(words)), hashed_(hashed), letters_(letters) {}

  // The words that it knows.
  const Vocabulary& words() const { return words_; }
  // Of one word.
  int32_t id(const std::string& word) const;
  // Of a question and its story.
  NumberedStoryQuestion numbered(StoryQuestion q) const;
  // The same in place; stories that several questions share are numbered once and kept.
  void number(NumberedStoryQuestion& q);

 private:
  std::vector<int32_t> ids(const std::vector<std::string>& words) const;
  void number_question(NumberedStoryQuestion& q) const;
  std::shared_ptr<const NumberedStory> story(const std::vector<Remembered>& story) const;

  Vocabulary words_{};
  int64_t hashed_ = 0;
  bool letters_ = false;
  std::map<const void*, std::pair<std::shared_ptr<const std::vector<Remembered>>,
                                  std::shared_ptr<const NumberedStory>>>
      stories_{};
};

}  // namespace fovea
