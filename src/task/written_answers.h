// Answers as a model writes them, word by word: the words that training had in answers.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/tokenizer.h"
#include "fovea/task/lesson.h"

namespace fovea {

// The words, and answers as lists of them.
class WrittenAnswers {
 public:
  // The words that these answers have.
  static WrittenAnswers learn(const std::vector<std::string>& answers);
  // A folder without them is an Error.
  static WrittenAnswers load(const std::string& folder);
  // Beside the model's other files.
  void save(const std::string& folder) const;

  // How many words there are, marks of begin and end among them.
  int64_t size() const { return words_.size(); }
  // What teaches these answers; nothing is wanted after an empty one.
  Lesson lesson(const std::vector<std::string>& answers) const;
  // The answer that has these words.
  std::string text(const std::vector<int32_t>& ids) const;

 private:
  explicit WrittenAnswers(Tokenizer words) : words_(std::move(words)) {}
  Tokenizer words_;
};

}  // namespace fovea
