// Answers as a model writes them, word by word: the words that training had in answers.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/tokenizer.h"
#include "fovea/task/lesson.h"

namespace fovea {

class WrittenAnswers {
 public:
  static WrittenAnswers learn(const std::vector<std::string>& answers);
  // A folder without them is an Error.
  static WrittenAnswers load(const std::string& folder);
  void save(const std::string& folder) const;

  int64_t size() const { return words_.size(); }
  // Nothing is wanted after an empty answer.
  Lesson lesson(const std::vector<std::string>& answers) const;
  std::string text(const std::vector<int32_t>& ids) const;

 private:
  explicit WrittenAnswers(Tokenizer words) : words_(std::move(words)) {}
  Tokenizer words_;
};

}  // namespace fovea
