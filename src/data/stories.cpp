#include "fovea/data/stories.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

using nlohmann::json;

constexpr std::string_view marks = ".,;:!?\"()";

std::string without_marks(std::string_view word) {
  while (!word.empty() && marks.find(word.front()) != word.npos) word.remove_prefix(1);
  while (!word.empty() && marks.find(word.back()) != word.npos) word.remove_suffix(1);
  return std::string(word);
}

std::string trimmed(std::string_view text) {
  const auto parts = split_at_spaces(text);
  if (parts.empty()) return "";
  return {parts.front().data(), parts.back().data() + parts.back().size()};
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A story while it is read.
struct Reading {
  std::vector<Remembered> sentences;
  std::vector<int64_t> numbers;  // of the lines, by which facts are named
  std::string text;
  std::vector<StoryQuestion> questions;

  void finish(std::vector<StoryQuestion>& to) {
    const auto story = std::make_shared<const std::vector<Remembered>>(std::move(sentences));
    for (StoryQuestion& q : questions) {
      q.story = story;
      to.push_back(std::move(q));
    }
    *this = {};
  }
};

void add_question(Reading& story, const std::vector<std::string>& fields, const std::string& where,
                  const std::string& task) {
  check(fields.size() <= 3, where,
        ": a question has an answer and supporting facts behind it, got ", fields.size(),
        " fields");
  StoryQuestion q;
  q.sentences = story.sentences.size();
  q.question = words_of_sentence(fields[0]);
  check(!q.question.empty(), where, ": the question has no words");
  const std::string answer = to_lowercase(trimmed(fields[1]));
  check(!answer.empty(), where, ": the question has no answer");
  q.answers = {answer};
  if (fields.size() == 3) {
    for (std::string_view word : split_at_spaces(fields[2])) {
      int64_t number = -1;
      const std::string text(word);
      if (text.find_first_not_of("0123456789") == text.npos && text.size() < 9)
        number = std::stoll(text);
      const auto found = std::ranges::find(story.numbers, number);
      check(found != story.numbers.end(), where, ": supporting fact ", text,
            " is not a sentence of this story before the question");
      q.facts.push_back(static_cast<int32_t>(found - story.numbers.begin()));
    }
  }
  q.task = task;
  q.input = story.text + trimmed(fields[0]);
  story.questions.push_back(std::move(q));
}

// "qa12_..." is task 12; other files are one task each if there are several.
std::string task_of(const std::string& path, bool alone) {
  const std::string name = std::filesystem::path(path).filename().string();
  const auto digit = name.find_first_of("0123456789");
  if (name.starts_with("qa") && digit == 2) {
    return name.substr(2, name.find_first_not_of("0123456789", 2) - 2);
  }
  return alone ? "" : name.substr(0, name.find('.'));
}

Words words_of(const json& value, const std::string& where) {
  if (value.is_string()) return words_of_sentence(value.get<std::string>());
  check(value.is_array() && std::ranges::all_of(value, [](auto& x) { return x.is_string(); }),
        where, ": a text is a string or a list of words");
  Words words;
  for (const auto& x : value) {
    const std::string word = to_lowercase(x.get<std::string>());
    if (!without_marks(word).empty()) words.push_back(word);
  }
  return words;
}

StoryQuestion of_json(const std::string& line, const std::string& where, bool answered) {
  const json j = json::parse(line, nullptr, false);
  check(j.is_object() && j.contains("question"), where,
        ": needs an object with a question, answers, and a memory or a story");
  StoryQuestion q;
  q.question = words_of(j["question"], where);
  for (const char* name : {"answers", "answer"}) {
    if (!j.contains(name)) continue;
    const json list = j[name].is_array() ? j[name] : json::array({j[name]});
    for (const auto& one : list) {
      check(one.is_string(), where, ": answers are strings");
      q.answers.push_back(to_lowercase(one.get<std::string>()));
    }
  }
  check(!answered || !q.answers.empty(), where, ": the question has no answer");
  std::vector<Remembered> story;
  for (const auto& one : j.value("memory", json::array())) {
    Remembered r;
    if (one.is_object() && one.contains("key") && one.contains("value")) {
      r.key = words_of(one["key"], where);
      r.value =
          words_of(one["value"].is_string() ? json::array({one["value"]}) : one["value"], where);
    } else {
      const Words all = words_of(one, where);
      check(one.is_array() && all.size() >= 2, where,
            ": a memory is [entity, relation, value], or an object with key and value");
      r.key.assign(all.begin(), all.end() - 1);
      r.value = {all.back()};
    }
    r.words = r.key;
    r.words.insert(r.words.end(), r.value.begin(), r.value.end());
    story.push_back(std::move(r));
  }
  for (const auto& one : j.value("story", json::array()))
    story.push_back({words_of(one, where), {}, {}});
  q.sentences = story.size();
  q.story = std::make_shared<const std::vector<Remembered>>(std::move(story));
  if (j.contains("split") && j["split"].is_string()) q.split = j["split"];
  if (j.contains("task") && j["task"].is_string()) q.task = j["task"];
  q.input = line;
  return q;
}

void read_file(const std::string& path, const std::string& task, std::vector<StoryQuestion>& to) {
  const size_t before = to.size();
  Reading story;
  for_each_line(path, [&](std::string_view raw, int64_t number) {
    const std::string where = say(path, ":", number), line = trimmed(raw);
    if (line.starts_with('{')) {
      to.push_back(of_json(line, where, true));
      if (to.back().task.empty()) to.back().task = task;
      return;
    }
    if (line.empty()) return story.finish(to);
    std::vector<std::string> fields = split(std::string(raw), '\t');
    // A number in front: bAbI's, where 1 begins a story.
    const auto digits = fields[0].find_first_not_of("0123456789");
    int64_t n = static_cast<int64_t>(story.sentences.size()) + 1;
    if (digits != 0 && digits != std::string::npos && digits < 9 && fields[0][digits] == ' ') {
      n = std::stoll(fields[0].substr(0, digits));
      fields[0] = fields[0].substr(digits + 1);
      if (n == 1) story.finish(to);
    }
    if (fields.size() > 1) return add_question(story, fields, where, task);
    check(!is_question(fields[0]), where,
          ": the question has no answer; put it behind a tab, as in 'Where is Mary?<TAB>garden'");
    story.sentences.push_back({words_of_sentence(fields[0]), {}, {}});
    story.numbers.push_back(n);
    story.text += trimmed(fields[0]) + "\n";
  });
  story.finish(to);
  check(to.size() > before, path,
        ": holds no question; one ends with ? and has its answer behind a tab");
}

}  // namespace

Words words_of_sentence(const std::string& text) {
  Words words;
  for (std::string_view part : split_at_spaces(text)) {
    if (std::string word = without_marks(part); !word.empty()) words.push_back(to_lowercase(word));
  }
  return words;
}

std::vector<std::string> sentences_of(const std::string& text) {
  std::vector<std::string> all(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      all.emplace_back();
      continue;
    }
    all.back() += text[i];
    const bool end = text[i] == '.' || text[i] == '!' || text[i] == '?';
    if (end && i + 1 < text.size() && text[i + 1] == ' ') all.emplace_back();
  }
  std::vector<std::string> kept;
  for (const std::string& one : all) {
    if (std::string sentence = trimmed(one); !sentence.empty()) kept.push_back(sentence);
  }
  return kept;
}

bool is_question(const std::string& sentence) { return trimmed(sentence).ends_with('?'); }

StoryQuestion story_of_text(const std::string& text) {
  if (trimmed(text).starts_with('{')) return of_json(trimmed(text), "qa", false);
  std::vector<Remembered> story;
  StoryQuestion q;
  const auto all = sentences_of(text);
  check(!all.empty() && is_question(all.back()),
        "qa: needs a story and a question at its end, which ends with '?', got '", text, "'");
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    if (!is_question(all[i])) story.push_back({words_of_sentence(all[i]), {}, {}});
  }
  q.question = words_of_sentence(all.back());
  q.sentences = story.size();
  q.story = std::make_shared<const std::vector<Remembered>>(std::move(story));
  q.input = text;
  return q;
}

std::vector<StoryQuestion> read_stories(const std::string& path, const std::string& part) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path)) {
      const std::string name = entry.path().filename().string();
      if (name.find(part) != std::string::npos) files.push_back(entry.path().string());
    }
    check(!files.empty(), path, ": holds no file with '", part, "' in its name");
    const auto order = [](const std::string& file) {
      const std::string task = task_of(file, false);
      return std::pair(task.size(), task);
    };
    std::ranges::sort(files, {}, order);
  } else {
    files = split(path, ',');
  }
  std::vector<StoryQuestion> all;
  for (const std::string& file : files) read_file(file, task_of(file, files.size() == 1), all);
  return all;
}

}  // namespace fovea
