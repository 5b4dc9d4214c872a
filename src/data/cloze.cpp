// Cloze files as they are published: CBT's lines, and a folder of CNN's and Daily Mail's.
#include <algorithm>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/passage_collector.h"
#include "fovea/data/rows.h"
#include "fovea/data/text_file.h"

namespace fovea {
namespace {

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(at, from), text.size());
    if (const auto part = trimmed(text.substr(from, to - from)); !part.empty()) {
      parts.emplace_back(part);
    }
    from = to + 1;
  }
  return parts;
}

}  // namespace

std::span<const std::string_view> blanks() {
  static constexpr std::string_view all[] = {"@placeholder", "@blank", "XXXXX", "___"};
  return all;
}

bool has_blank(std::string_view question) {
  return std::ranges::any_of(blanks(), [&](std::string_view blank) {
    return question.find(blank) != std::string_view::npos;
  });
}

std::vector<std::string> candidates_in(std::string_view passage) {
  constexpr std::string_view entity = "@entity";
  const auto words = split_at_spaces(passage);
  const bool entities =
      std::ranges::any_of(words, [&](std::string_view word) { return word.starts_with(entity); });
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (std::string_view word : words) {
    if (!entities) word = trimmed(word, ".,;:!?\"()");
    if (word.empty() || (entities && !word.starts_with(entity))) continue;
    if (seen.insert(to_lowercase(word)).second) all.emplace_back(word);
  }
  return all;
}

void read_cbt(const std::string& path, PassageCollector& to) {
  std::string story;
  for_each_line(path, [&](std::string_view raw, int64_t number) {
    const std::string where = say("line ", number);
    std::string_view line = trimmed(raw);
    if (line.empty()) return story.clear();
    const size_t space = line.find(' ');
    const std::string_view digits = line.substr(0, std::min(space, line.size()));
    if (space == std::string_view::npos ||
        digits.find_first_not_of("0123456789") != std::string_view::npos) {
      return to.refuse(where, "does not begin with its number, as a line of a CBT story does",
                       number);
    }
    if (digits == "1") story.clear();
    line.remove_prefix(space + 1);
    if (line.find('\t') == std::string_view::npos) {
      story += (story.empty() ? "" : "\n") + std::string(trimmed(line));
      return;
    }
    const std::vector<std::string> fields = split(line, '\t');
    if (fields.size() < 2 || !has_blank(fields[0])) {
      return to.refuse(where, "needs a question with a blank (XXXXX), its answer and candidates",
                       number);
    }
    PassageQuestion q{.passage = std::make_shared<const std::string>(story),
                      .question = fields[0],
                      .answers = {{fields[1]}}};
    if (fields.size() > 2) q.candidates = split(fields.back(), '|');
    to.add(std::move(q), true, where, number);
  });
}

void read_cnn(const std::string& folder, PassageCollector& to) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".question") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  for (const std::string& file : files) {
    // The address, the passage, the question, the answer, and what the entities are called.
    std::vector<std::string> parts;
    bool open = false;
    for_each_line(file, [&](std::string_view raw, int64_t) {
      const std::string_view line = trimmed(raw);
      if (line.empty()) {
        open = false;
        return;
      }
      if (parts.size() >= 4 && !open) return;
      if (!open) parts.emplace_back();
      parts.back() += (open ? "\n" : "") + std::string(line);
      open = true;
    });
    const std::string name = std::filesystem::path(file).filename().string();
    if (parts.size() < 4) {
      to.refuse(name, say("needs an address, a passage, a question and an answer with a blank line "
                          "between them, got ",
                          parts.size(), " of these"));
      continue;
    }
    to.add({.id = name,
            .passage = std::make_shared<const std::string>(parts[1]),
            .question = parts[2],
            .answers = {{parts[3]}}},
           true, name);
  }
}

}  // namespace fovea
