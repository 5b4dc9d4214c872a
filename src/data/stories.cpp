#include "fovea/data/stories.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fovea/base/error.h"
#include "fovea/base/fields.h"
#include "fovea/base/utf8.h"
#include "fovea/base/words.h"
#include "fovea/data/line_reader.h"

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
  StoryLines lines;
  std::vector<Remembered> sentences;
  std::vector<int64_t> numbers;  // of the sentences, by which facts are named
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

// An answer is right whatever the space between its words.
std::string spaced_once(const std::string& text) {
  std::string words;
  for (std::string_view word : split_at_spaces(text)) {
    if (!words.empty()) words += ' ';
    words += word;
  }
  return words;
}

void add_question(Reading& story, const std::vector<std::string>& fields, const std::string& where,
                  const std::string& task) {
  check(fields.size() <= 3, where,
        ": a question has an answer and supporting facts behind it, got ", fields.size(),
        " fields");
  StoryQuestion q;
  q.sentences = story.sentences.size();
  q.question = words_of_sentence(fields[0]);
  check(!q.question.empty(), where, ": the question has no words");
  const std::string answer = spaced_once(to_lowercase(fields[1]));
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

void check_strings(const json& list, const std::string& where) {
  check(list.is_array() && std::ranges::all_of(list, [](auto& x) { return x.is_string(); }), where,
        ": a text is a string or a list of words");
}

// Marks alone are no words of a text.
Words words_of(const json& value, const std::string& where) {
  if (value.is_string()) return words_of_sentence(value.get<std::string>());
  check_strings(value, where);
  Words words;
  for (const auto& x : value) {
    const std::string word = to_lowercase(x.get<std::string>());
    if (!without_marks(word).empty()) words.push_back(word);
  }
  return words;
}

// In a memory they may be what is remembered.
Words entry_of(const json& list, const std::string& where) {
  check_strings(list, where);
  Words words;
  for (const auto& x : list) {
    if (std::string word = to_lowercase(trimmed(x.get<std::string>())); !word.empty())
      words.push_back(std::move(word));
  }
  return words;
}

Remembered memory_of(const json& one, const std::string& where) {
  Remembered r;
  std::string value;
  if (one.is_object() && one.contains("key") && one.contains("value")) {
    const json &key = one["key"], &is = one["value"];
    r.key = key.is_string() ? words_of_sentence(key.get<std::string>()) : entry_of(key, where);
    value = joined(entry_of(is.is_string() ? json::array({is}) : is, where));
  } else {
    check(one.is_array() && one.size() >= 2, where,
          ": a memory is [entity, relation, value], or an object with key and value");
    r.key = entry_of(json(one.begin(), one.end() - 1), where);
    value = joined(entry_of(json::array({one.back()}), where));
  }
  check(!r.key.empty() && !value.empty(), where, ": a memory needs a key and a value, got ",
        one.dump());
  r.value = {value};
  r.words = r.key;
  r.words.push_back(value);
  return r;
}

// The list of that name; empty where there is none.
json list_in(const json& j, const char* name, const std::string& where) {
  const json list = j.value(name, json());
  if (list.is_null()) return json::array();
  check(list.is_array(), where, ": its ", name, " is a list, got ", list.dump());
  return list;
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
      q.answers.push_back(spaced_once(to_lowercase(one.get<std::string>())));
    }
  }
  check(!answered || !q.answers.empty(), where, ": the question has no answer");
  std::vector<Remembered> story;
  for (const auto& one : list_in(j, "memory", where)) story.push_back(memory_of(one, where));
  if (j.contains("story") && j["story"].is_string()) {
    for (const std::string& sentence : sentences_of(j["story"].get<std::string>()))
      story.push_back({words_of_sentence(sentence), {}, {}});
  } else {
    for (const auto& one : list_in(j, "story", where))
      story.push_back({words_of(one, where), {}, {}});
  }
  q.sentences = story.size();
  q.story = std::make_shared<const std::vector<Remembered>>(std::move(story));
  if (j.contains("split") && j["split"].is_string()) q.split = j["split"];
  if (j.contains("task") && j["task"].is_string()) q.task = j["task"];
  q.input = line;
  return q;
}

void read_line(Reading& story, std::string_view raw, const std::string& where,
               const std::string& task, std::vector<StoryQuestion>& to) {
  const std::string line = trimmed(raw);
  if (line.starts_with('{')) {
    to.push_back(of_json(line, where, true));
    if (to.back().task.empty()) to.back().task = task;
    return;
  }
  if (line.empty()) return story.finish(to);
  std::vector<std::string> fields = split(std::string(raw), '\t');
  StoryLines lines = story.lines;
  const StoryLine one = lines.next(fields[0]);
  if (one.first) story.finish(to);
  story.lines = lines;
  const std::string text = trimmed(one.text);
  if (fields.size() > 1) {
    fields[0] = text;
    return add_question(story, fields, where, task);
  }
  check(!is_question(text), where,
        ": the question has no answer; put it behind a tab, as in 'Where is Mary?<TAB>garden'");
  story.sentences.push_back({words_of_sentence(text), {}, {}});
  story.numbers.push_back(one.number > 0 ? one.number : std::ssize(story.sentences));
  story.text += text + "\n";
}

void read_file(const std::string& path, const std::string& task, const StoryReading& how,
               std::vector<StoryQuestion>& to) {
  const size_t before = to.size();
  Reading story;
  LineReader lines(path, how.encoding);
  for (Got got; (got = lines.next()) != Got::end;) {
    const std::string where = say(path, ":", lines.number());
    try {
      check<ErrorKind::input>(got == Got::good, where, ": ", lines.problem());
      read_line(story, lines.text(), where, task, to);
    } catch (const Error& error) {
      if (!how.on_bad) throw;
      how.on_bad(error.what());
    }
  }
  story.finish(to);
  check(to.size() > before, path,
        ": holds no question; one ends with ? and has its answer behind a tab");
}

// "Dr." ends no sentence.
bool ends_with_title(const std::string& text) {
  static constexpr std::string_view titles[] = {"Mr.", "Mrs.", "Ms.", "Dr.", "St.", "Prof."};
  const auto words = split_at_spaces(text);
  return !words.empty() && std::ranges::find(titles, words.back()) != std::end(titles);
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
    if (end && i + 1 < text.size() && text[i + 1] == ' ' && !ends_with_title(all.back()))
      all.emplace_back();
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
  StoryLines lines;
  std::string last;
  const auto tell = [&](const std::string& sentence) {
    if (!sentence.empty() && !is_question(sentence))
      story.push_back({words_of_sentence(sentence), {}, {}});
  };
  for (const std::string& raw : split(text, '\n')) {
    if (trimmed(raw).empty()) continue;
    const StoryLine line = lines.next(raw);
    tell(last);
    if (line.first) story.clear();
    last = trimmed(line.text);
  }
  const auto all = sentences_of(last);
  check(!all.empty() && is_question(all.back()),
        "qa: needs a story and a question at its end, which ends with '?', got '", text, "'");
  for (size_t i = 0; i + 1 < all.size(); ++i) tell(all[i]);
  q.question = words_of_sentence(all.back());
  q.sentences = story.size();
  q.story = std::make_shared<const std::vector<Remembered>>(std::move(story));
  q.input = text;
  return q;
}

StoryLine StoryLines::next(std::string_view line) {
  const size_t digits = line.find_first_not_of("0123456789");
  int64_t number = 0;
  if (digits != 0 && digits < 9 && line[digits] == ' ')
    number = std::stoll(std::string(line.substr(0, digits)));
  StoryLine one{line, 0, !begun_ || (last_ > 0 && number == 1)};
  begun_ = true;
  if (one.first) last_ = 0;
  if (one.first ? number == 1 : last_ > 0 && number > last_) {
    one.text.remove_prefix(digits + 1);
    last_ = number;
  } else if (last_ > 0) {
    ++last_;
  }
  one.number = last_;
  return one;
}

std::vector<StoryQuestion> read_stories(const std::string& path, const std::string& part,
                                        const StoryReading& how) {
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
  for (const std::string& file : files) read_file(file, task_of(file, files.size() == 1), how, all);
  return all;
}

std::optional<std::string> story_heard(std::string& so_far, const std::string& line) {
  const auto words = split_at_spaces(line);
  if (words.empty()) so_far.clear();
  if (words.empty() || words[0].starts_with('{'))
    return words.empty() ? std::nullopt : std::optional(line);
  // As bAbI's files have it, behind a question stands its answer.
  const std::string text = line.substr(0, line.find('\t'));
  StoryLines lines;
  for (size_t from = 0; from < so_far.size(); from = so_far.find('\n', from) + 1)
    lines.next(so_far.substr(from, so_far.find('\n', from) - from));
  if (lines.next(text).first) so_far.clear();
  if (is_question(text)) return so_far + text;
  so_far += text + "\n";
  return std::nullopt;
}

std::set<std::string> tasks_named(const std::string& said, const std::set<std::string>& there) {
  std::set<std::string> named;
  std::istringstream in(said);
  for (std::string one; std::getline(in, one, ',');) {
    const auto dash = one.find('-');
    const bool range = dash != std::string::npos;
    const int64_t first = range ? whole_of("tasks", one.substr(0, dash)) : 0,
                  last = range ? whole_of("tasks", one.substr(dash + 1)) : 0;
    bool found = false;
    for (const std::string& name : there) {
      const bool number = name.find_first_not_of("0123456789") == name.npos && !name.empty();
      const bool is =
          range ? number && name.size() < 9 && std::stoll(name) >= first && std::stoll(name) <= last
                : name == one;
      if (is) named.insert(name);
      found |= is;
    }
    std::string known;
    std::map<std::pair<size_t, std::string>, bool> in_order;  // 2 before 10
    for (const std::string& name : there) in_order[{name.size(), name}] = true;
    for (const auto& [name, _] : in_order) known += (known.empty() ? "" : ", ") + name.second;
    check(found, "tasks: there is no question of the tasks '", one, "'; there are ", known);
  }
  return named;
}

}  // namespace fovea
