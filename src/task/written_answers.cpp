#include "fovea/task/written_answers.h"

#include <filesystem>

namespace fovea {
namespace {

constexpr const char* name = "written";

// "milk,apple" is three words, the comma a sign that no text has.
constexpr std::string_view sign = "\u241f", comma = " \u241f ";
std::string commas_apart(const std::string& answer) {
  const auto in_word = [](char c) { return c != ' ' && c != ','; };
  std::string text;
  for (size_t i = 0; i < answer.size(); ++i) {
    const bool between = answer[i] == ',' && i > 0 && i + 1 < answer.size() &&
                         in_word(answer[i - 1]) && in_word(answer[i + 1]);
    text += between ? comma : std::string_view(answer).substr(i, 1);
  }
  return text;
}
std::string commas_joined(std::string words) {
  for (size_t at = 0; (at = words.find(sign)) != words.npos;) {
    const bool before = at > 0 && words[at - 1] == ' ';
    const bool after = at + sign.size() < words.size() && words[at + sign.size()] == ' ';
    words.replace(at - before, before + sign.size() + after, ",");
  }
  return words;
}

}  // namespace

WrittenAnswers WrittenAnswers::learn(const std::vector<std::string>& answers) {
  std::vector<std::string> texts;
  for (const std::string& answer : answers) texts.push_back(commas_apart(answer));
  return WrittenAnswers(Tokenizer::learn({.kind = "spaces", .fold_case = false}, texts));
}

WrittenAnswers WrittenAnswers::load(const std::string& folder) {
  check(std::filesystem::exists(folder + "/" + name + ".json"), folder,
        ": is of an earlier version, whose models chose their answers; train it again");
  return WrittenAnswers(Tokenizer::load(folder, name));
}
void WrittenAnswers::save(const std::string& folder) const { words_.save(folder, name); }

Lesson WrittenAnswers::lesson(const std::vector<std::string>& answers) const {
  std::vector<std::vector<int32_t>> ids;
  for (const std::string& answer : answers) ids.push_back(words_.encode(commas_apart(answer)));
  Lesson lesson = lesson_of(ids);
  const auto offsets = lesson.target.offsets.read<int32_t>();
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].empty()) lesson.wanted.write<int32_t>()[offsets[i]] = -1;
  }
  return lesson;
}

std::string WrittenAnswers::text(const std::vector<int32_t>& ids) const {
  return commas_joined(words_.decode(ids));
}

}  // namespace fovea
