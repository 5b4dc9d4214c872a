#include "fovea/task/fit/forms.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/line_reader.h"
#include "fovea/data/rows.h"
#include "fovea/task/solver.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string_view>;

// At most so many of the first lines that are not blank; the last of a head may be cut.
Lines first_lines(std::string_view head, size_t most) {
  Lines lines;
  while (!head.empty() && lines.size() < most) {
    const size_t end = head.find('\n');
    const std::string_view line = trimmed(head.substr(0, end));
    if (!line.empty()) lines.push_back(line);
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
  }
  return lines;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_known(std::string_view task) {
  return std::ranges::any_of(tasks(), [&](const Task& one) { return one.name == task; });
}

// A sentence with $T$, its phrase and its label, a line each.
bool is_three_lines(const Lines& lines) {
  if (lines.size() < 6) return false;
  for (size_t i = 0; i + 2 < lines.size(); i += 3) {
    if (!has(lines[i], "$T$") || has(lines[i], "\t") || lines[i + 2].size() > 40) return false;
  }
  return true;
}

// Sentences, among them questions with an answer behind a tab; in bAbI's files all with a number.
bool is_stories(const Lines& lines) {
  size_t questions = 0, others = 0;
  for (const std::string_view line : lines) {
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      ++others;
    } else if (trimmed(line.substr(0, tab)).ends_with('?')) {
      ++questions;
    } else {
      return false;
    }
  }
  return questions > 0 && others >= questions;
}

// A word and as many numbers as on every other line.
bool is_vectors(const Lines& lines) {
  size_t width = 0, seen = 0;
  for (size_t i = 0; i + 1 < lines.size(); ++i) {
    const auto parts = split_at_spaces(lines[i]);
    if (i == 0 && parts.size() == 2) continue;  // word2vec's counts
    if (width == 0) width = parts.size();
    if (parts.size() != width || width < 11) return false;
    for (size_t k = 1; k < parts.size(); ++k) {
      if (!to_number(parts[k])) return false;
    }
    seen += !to_number(parts[0]).has_value();
  }
  return seen * 2 > lines.size();
}

FoundForm form_of_json(const std::string& path, const Lines& lines, std::string_view head) {
  const std::string_view first = head.substr(0, 20'000);
  if (has(first, "\"paragraphs\"") && has(first, "\"qas\"")) {
    check(is_known("read"), path,
          ": holds passages and questions as SQuAD has them, which no task here learns from; give ",
          "a file of examples, and --task");
    return {"read", "task: read, as there are passages and questions as SQuAD has them"};
  }
  const auto json = nlohmann::json::parse(lines[0], nullptr, false);
  if (!json.is_object()) return {};
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::ranges::any_of(names, [&](const char* name) { return json.contains(name); });
  };
  if (json.contains("nodes") && json.contains("edges")) {
    return {"graph", "task: graph, as every line has nodes and edges"};
  }
  if (json.contains("question") && any({"answers", "answer"}) && any({"memory", "story"})) {
    return {"qa", "task: qa, as every line has a question, answers, and a memory or a story", "",
            json.contains("split") ? "as every line has it" : ""};
  }
  const auto is_words = [&](const char* name) {
    return json.contains(name) && json[name].is_array() && !json[name].empty() &&
           std::ranges::all_of(json[name], [](const auto& x) { return !x.is_structured(); });
  };
  for (const char* words : {"tokens", "words"}) {
    for (const char* tags : {"tags", "ner_tags", "pos_tags", "labels", "upos", "pos", "ner"}) {
      if (is_words(words) && is_words(tags) && json[words].size() == json[tags].size()) {
        return {"label",
                say("task: label, as every line has as many '", tags, "' as '", words, "'")};
      }
    }
  }
  return {};
}

// The names in the first line of a table, in lower case; empty: it cannot be read.
std::vector<std::string> header_of(const std::string& path) {
  LineReader lines(path);
  std::vector<std::string> names;
  for (const std::string_view line : first_lines(lines.head(65'536), 1)) {
    for (size_t from = 0; from <= line.size();) {
      const size_t to = std::min(line.find_first_of(",;\t", from), line.size());
      names.push_back(to_lowercase(trimmed(line.substr(from, to - from))));
      from = to + 1;
    }
  }
  return names;
}

}  // namespace

FoundForm form_of(const std::string& path, std::string_view head) {
  const Lines lines = first_lines(head, 300);
  if (lines.empty()) return {};
  if (lines[0].starts_with('<')) {
    if (has(head, "<aspectTerm") || has(head, "<Opinion")) {
      return {"aspect", "task: aspect, as XML names phrases in sentences"};
    }
    if (lines[0].starts_with("<?xml") || has(head.substr(0, 400), "<!DOCTYPE")) {
      fail(path, ": is ", has(head.substr(0, 400), "html") ? "HTML" : "XML",
           " of no form that is known; write its examples as CSV, TSV or JSON lines");
    }
  }
  if (lines[0].starts_with('{')) return form_of_json(path, lines, head);
  if (is_three_lines(lines)) {
    return {"aspect", "task: aspect, as sentences with $T$ have a phrase and a label below them"};
  }
  if (is_stories(lines)) {
    return {"qa", "task: qa, as questions stand among sentences, their answers behind a tab"};
  }
  if (lines.size() >= 3) {
    check(!is_vectors(lines), path,
          ": looks like word vectors, a word and its numbers a line; they help to learn from ",
          "other files: fovea fit FILE --vectors ", path);
  }
  return {};
}

FoundForm form_of_folder(const std::string& path) {
  if (fs::exists(path + "/features.txt") && fs::exists(path + "/labels.txt") &&
      fs::exists(path + "/edges.txt")) {
    return {"graph", "task: graph, as the folder has features.txt, labels.txt and edges.txt", path,
            fs::exists(path + "/split.txt") ? "as split.txt has it" : ""};
  }
  std::vector<std::string> tables;
  bool trains = false, tests = false;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename().string();
    const bool stories = name.starts_with("qa") && has(name, "_");
    trains |= stories && has(name, "train");
    tests |= stories && has(name, "test");
    const std::string stem = to_lowercase(entry.path().stem().string());
    if (stem == "nodes" || stem == "edges") tables.push_back(entry.path().string());
  }
  if (trains && tests) {
    return {"qa", "task: qa, as the folder has qa1_.._train and qa1_.._test as bAbI has them", path,
            "a tenth of the files with train in their names validates, those with test test"};
  }
  if (tables.size() == 2) {
    FoundForm graph = form_of_two(tables);
    if (graph.task == "graph") return graph;
  }
  fail(path, ": is a folder of no form that is known; name the files in it: fovea fit ", path,
       "/train.tsv ", path, "/test.tsv, or say --task");
}

FoundForm form_of_two(const std::vector<std::string>& files) {
  const auto is_nodes = [](const std::vector<std::string>& names) {
    return std::ranges::find(names, "id") != names.end();
  };
  const auto is_edges = [](const std::vector<std::string>& names) {
    return names.size() >= 2 &&
           (names[0] == "source" || names[0] == "from" || names[0] == "src" || names[0] == "u");
  };
  const auto first = header_of(files[0]), second = header_of(files[1]);
  const bool turned = is_edges(first) && is_nodes(second);
  if (turned || (is_nodes(first) && is_edges(second))) {
    return {"graph", "task: graph, as one file has nodes and one has edges",
            files[turned] + "," + files[!turned]};
  }
  return {"translate", "task: translate, as there are two files", files[0] + "," + files[1]};
}

}  // namespace fovea
