#include "fovea/task/fit/audit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/columns.h"
#include "fovea/task/fit/parts.h"

namespace fovea {
namespace {

// Letters and case as they are, spaces as one.
std::string tidy(const std::string& text) {
  std::string made;
  for (std::string_view word : split_at_spaces(text)) {
    made += made.empty() ? "" : " ";
    made += word;
  }
  return made;
}

std::string counted(int64_t n, const std::string& one, const std::string& many) {
  return say(n, " ", n == 1 ? one : many);
}

class Finder {
 public:
  explicit Finder(Audit& audit) : audit_(audit) {}
  // Nothing is said of what never happened.
  void add(int64_t n, const std::string& one, const std::string& many,
           std::vector<std::string> shown = {}) {
    if (n > 0) audit_.findings.push_back({counted(n, one, many), std::move(shown)});
  }

 private:
  Audit& audit_;
};

// Blank lines are part of a text as a whole.
void audit_lengths(const std::vector<FitExample>& train, bool may_be_blank, Finder& find,
                   Audit& audit) {
  std::vector<int64_t> sizes;
  int64_t empty = 0, enormous = 0;
  double words = 0, letters = 0;
  for (const FitExample& e : train) {
    const auto n = static_cast<int64_t>(split_at_spaces(e.input).size());
    empty += n == 0 && !may_be_blank;
    sizes.push_back(n);
    words += static_cast<double>(n);
    letters += static_cast<double>(e.input.size());
  }
  const auto n = std::max<double>(1, static_cast<double>(train.size()));
  audit.mean_words = words / n;
  audit.mean_letters = letters / n;
  if (sizes.empty()) return;
  std::vector<int64_t> sorted = sizes;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2));
  const int64_t median = sorted[sorted.size() / 2];
  std::vector<std::string> shown;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= std::max<int64_t>(200, 50 * median)) continue;
    ++enormous;
    if (shown.size() < 3) shown.push_back(say(sizes[i], " words: ", shortened(train[i].input)));
  }
  find.add(empty, "example has an empty text", "examples have an empty text");
  find.add(enormous, "example is enormous", "examples are enormous", std::move(shown));
}

void audit_copies(const FitParts& parts, Finder& find) {
  std::unordered_map<std::string, const FitExample*> seen;
  int64_t again = 0, two_answers = 0;
  std::vector<std::string> shown;
  for (const FitExample& e : parts.train) {
    const auto [at, is_new] = seen.emplace(tidy(e.input), &e);
    if (is_new) continue;
    ++again;
    if (at->second->answer == e.answer) continue;
    ++two_answers;
    if (shown.size() < 3) {
      shown.push_back(say(shortened(e.input), ": ", shortened(at->second->answer), " and ",
                          shortened(e.answer)));
    }
  }
  find.add(again, "example repeats another that is learned from",
           "examples repeat others that are learned from");
  find.add(two_answers, "example has the text of another and another answer",
           "examples have the text of another and another answer", std::move(shown));
  for (const auto* part : {&parts.dev, &parts.test}) {
    int64_t known = 0;
    std::vector<std::string> some;
    for (const FitExample& e : *part) {
      if (!seen.contains(tidy(e.input))) continue;
      ++known;
      if (some.size() < 3) some.push_back(shortened(e.input));
    }
    const std::string what = part == &parts.dev ? "validation" : "test";
    find.add(known, "example of the " + what + " part is learned from too: it counts as known",
             "examples of the " + what + " part are learned from too: scores are too good by that",
             std::move(some));
  }
}

void audit_labels(const FitParts& parts, const Config& config, Finder& find, Audit& audit) {
  std::map<std::string, int64_t> counts;
  for (const FitExample& e : parts.train) ++counts[e.answer];
  audit.labels = static_cast<int64_t>(counts.size());
  check(counts.size() >= 2, config.data, ": all ", parts.train.size(), " examples have the label '",
        counts.empty() ? "" : counts.begin()->first, "'; there is nothing to tell apart");
  check(counts.size() * 2 <= parts.train.size() || parts.train.size() < 20, config.data, ": has ",
        counts.size(), " labels for ", parts.train.size(),
        " examples, so that hardly one comes twice; is another column the label? Say --columns");
  std::map<std::string, std::vector<std::string>> twins;
  std::vector<std::string> rare, alike;
  int64_t few = 0, same = 0;
  for (const auto& [label, n] : counts) {
    std::string plain;
    for (std::string_view word : split_at_spaces(label)) plain += to_lowercase(word);
    twins[plain].push_back(label);
    if (n >= 5) continue;
    ++few;
    if (rare.size() < 5) rare.push_back(say("'", shortened(label), "' ", n, " times"));
  }
  for (const auto& [plain, forms] : twins) {
    if (forms.size() < 2) continue;
    ++same;
    std::string text;
    for (const std::string& form : forms) text += say(text.empty() ? "" : ", ", "'", form, "'");
    if (alike.size() < 5) alike.push_back(text);
  }
  find.add(few, "label has fewer than 5 examples", "labels have fewer than 5 examples", rare);
  find.add(same, "label is written in several ways, which count as several labels",
           "labels are written in several ways, which count as several labels", alike);
  int64_t unseen = 0;
  for (const FitExample& e : parts.test) unseen += !counts.contains(e.answer);
  find.add(unseen, "test example has a label that is never learned from",
           "test examples have labels that are never learned from");
  // A text that holds its own label tells it: an id that was joined in, or a copied column.
  int64_t told = 0;
  for (const FitExample& e : parts.train) {
    const auto words = split_at_spaces(e.input);
    told += std::ranges::find(words, std::string_view(e.answer)) != words.end();
  }
  if (told * 20 >= static_cast<int64_t>(parts.train.size()) * 19) {
    find.add(told, "text holds its own label as a word", "texts hold their own label as a word");
  }
}

void audit_tags(const FitParts& parts, Finder& find, Audit& audit) {
  std::map<std::string, int64_t> counts;
  int64_t wrong = 0;
  std::vector<std::string> shown;
  for (const FitExample& e : parts.train) {
    std::string before = "O";
    for (std::string_view view : split_at_spaces(e.answer)) {
      const std::string tag(view);
      ++counts[tag];
      audit.entities |= tag.starts_with("B-") || tag.starts_with("I-");
      if (tag.starts_with("I-") && before != tag && before != "B-" + tag.substr(2)) {
        ++wrong;
        if (shown.size() < 3) shown.push_back(say(before, " before ", tag));
      }
      before = tag;
    }
  }
  audit.labels = static_cast<int64_t>(counts.size());
  bool begins = false;
  for (const auto& [tag, n] : counts) begins |= tag.starts_with("B-");
  // Data in which nothing begins with B- is of the older kind, where that is right.
  if (begins) {
    find.add(wrong, "tag goes on with what has not begun (I- without B-)",
             "tags go on with what has not begun (I- without B-)", std::move(shown));
  }
}

// Of one side of a corpus.
void audit_words(const std::vector<FitExample>& train, std::string FitExample::*side,
                 Audit& audit) {
  constexpr int64_t enough = 3;  // times that a word is seen to be learned
  std::unordered_map<std::string_view, int64_t> counts;
  for (const FitExample& e : train) {
    for (const std::string_view word : split_at_spaces(e.*side)) ++counts[word];
  }
  std::set<std::string_view> letters;
  int64_t known = 0, rare = 0, all = 0;
  for (const auto& [word, n] : counts) {
    for (const std::string_view letter : code_points(word)) letters.insert(letter);
    known += n >= enough;
    rare += n >= enough ? 0 : n;
    all += n;
  }
  audit.known_words = std::max(audit.known_words, known);
  audit.letters = std::max(audit.letters, static_cast<int64_t>(letters.size()));
  audit.rare_words = std::max(audit.rare_words,
                              static_cast<double>(rare) / std::max(1.0, static_cast<double>(all)));
}

void audit_words(const std::vector<FitExample>& train, Audit& audit) {
  audit_words(train, &FitExample::input, audit);
  audit_words(train, &FitExample::answer, audit);
}

void audit_numbers(const FitParts& parts, Finder& find) {
  if (parts.train.empty()) return;
  const size_t columns = parts.train[0].numbers.size();
  std::vector<std::string> copies, constant;
  for (size_t c = 0; c + 1 < columns; ++c) {
    bool copy = true, same = true;
    for (const FitExample& e : parts.train) {
      copy &= e.numbers[c] == e.numbers.back();
      same &= e.numbers[c] == parts.train[0].numbers[c];
    }
    if (copy) copies.push_back(say("column ", c + 1));
    if (same) constant.push_back(say("column ", c + 1));
  }
  find.add(static_cast<int64_t>(copies.size()), "column is a copy of what is to be learned",
           "columns are copies of what is to be learned", copies);
  find.add(static_cast<int64_t>(constant.size()), "column never changes", "columns never change",
           constant);
}

}  // namespace

Audit audit_data(const Config& config) {
  Audit audit;
  if (!can_be_audited(config)) return audit;
  audit.from_text = config.task == "regress" && reads_text(config);
  const FitParts parts = read_fit_parts(config);
  Finder find(audit);
  audit.examples = static_cast<int64_t>(parts.train.size());
  audit.validations = static_cast<int64_t>(parts.dev.size());
  audit.tests = static_cast<int64_t>(parts.test.size());
  audit.facts.push_back(say(parts.train.size(), config.task == "lm" ? " lines" : " examples",
                            " to learn from, ", parts.dev.size(), " to validate on, ",
                            parts.test.size(), " to test on"));
  for (const ReadSummary& file : parts.files) {
    std::vector<std::string> shown;
    for (const auto& bad : file.first_bad)
      shown.push_back(say("line ", bad.line, ": ", bad.reason));
    find.add(file.bad_rows, "row of " + file.path + " cannot be read and is left out",
             "rows of " + file.path + " cannot be read and are left out", std::move(shown));
  }
  audit_lengths(parts.train, config.task == "lm", find, audit);
  if (config.task != "lm") audit_copies(parts, find);
  const bool labels = config.task == "classify" || config.task == "pair" || config.task == "aspect";
  if (labels) audit_labels(parts, config, find, audit);
  if (config.task == "label") audit_tags(parts, find, audit);
  if (config.task == "regress") audit_numbers(parts, find);
  if (config.task == "translate") audit_words(parts.train, audit);
  if (audit.labels > 0) audit.facts.push_back(say(audit.labels, " labels"));
  return audit;
}

Audit audit_sizes(const Config& config) {
  Audit audit;
  FitParts parts;
  parts.train = read_to_learn(config);
  audit.examples = static_cast<int64_t>(parts.train.size());
  Finder find(audit);
  audit_lengths(parts.train, false, find, audit);
  if (config.task == "label") audit_tags(parts, find, audit);
  if (config.task == "translate") audit_words(parts.train, audit);
  audit.findings.clear();
  return audit;
}

}  // namespace fovea
