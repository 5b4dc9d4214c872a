#include "fovea/task/fit/inference.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/dialect.h"
#include "fovea/data/line_reader.h"
#include "fovea/task/solver.h"

namespace fovea {
namespace {

namespace fs = std::filesystem;

// Which part of the data a file is, by its name: train, dev, test or "".
std::string part_named(const std::string& path) {
  std::string name = to_lowercase(fs::path(path).filename().string()), word;
  std::string found;
  for (char c : name + ".") {
    if (std::isalpha(static_cast<unsigned char>(c))) {
      word += c;
      continue;
    }
    if (word == "train" || word == "training") found = "train";
    if (word == "dev" || word == "valid" || word == "validation" || word == "val") found = "dev";
    if (word == "test" || word == "eval") found = "test";
    word.clear();
  }
  return found;
}

// What the beginning of a file tells.
struct Look {
  Dialect dialect;
  std::vector<ColumnInfo> columns;
  bool conll = false;
};

// Sentences of words with tags: short lines of equally many fields, with empty lines between them.
bool looks_like_conll(std::string_view head) {
  std::set<std::string_view> last;
  int64_t tokens = 0, blank = 0, fields = 0, other = 0, run = 0, longest = 0, spaced = 0;
  while (!head.empty()) {
    const size_t end = std::min(head.find('\n'), head.size());
    std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const auto parts = split_at_spaces(line);
    if (parts.empty()) {
      blank += run > 0;
      run = 0;
      continue;
    }
    if (line[0] == '#' && run == 0) continue;  // comments of CoNLL-U
    longest = std::max(longest, ++run);
    ++tokens;
    // A field of several words is text, not a token.
    for (size_t at = line.find('\t'); at != std::string_view::npos; at = line.find('\t', at + 1)) {
      const size_t next = std::min(line.find('\t', at + 1), line.size());
      spaced += line.substr(at + 1, next - at - 1).find(' ') != std::string_view::npos;
    }
    last.insert(parts.back());
    const auto n = static_cast<int64_t>(parts.size());
    if (fields == 0) fields = n;
    other += n != fields;
  }
  return fields >= 2 && fields <= 20 && tokens >= 4 && blank >= 1 && tokens >= 2 * blank &&
         longest <= 1000 && other * 50 <= tokens && spaced * 50 <= tokens &&
         static_cast<int64_t>(last.size()) * 4 <= tokens + 8;  // few tags, each often
}

Look look_at(const std::string& path) {
  Look look;
  LineReader lines(path);
  const std::string head(lines.head(256 * 1024));
  check(!split_at_spaces(head).empty(), path, ": is empty; nothing can be learned from it");
  look.conll = looks_like_conll(head);
  if (look.conll) return look;
  const std::vector<Role> roles{{"label", Role::Kind::label}, {"text"}};
  look.dialect = recognise(path, head, lines.head_is_all(), roles, "auto", "auto");
  look.columns = describe_columns(look.dialect.names, look.dialect.rows, false);
  return look;
}

std::string name_of(const Look& look, size_t column) {
  const std::string& name = look.columns[column].name;
  return name.empty() ? say("column ", column + 1) : say("column ", column + 1, " '", name, "'");
}
// As --columns takes it.
std::string reference(const Look& look, size_t column) {
  const std::string& name = look.columns[column].name;
  const bool plain = !name.empty() && name.find_first_of(",=+") == std::string::npos;
  return plain ? name : std::to_string(column + 1);
}

bool is_named(const ColumnInfo& column, std::string_view role) {
  const auto names = usual_names(role);
  return std::ranges::find(names, to_lowercase(column.name)) != names.end();
}

std::string list_columns(const Look& look) {
  std::string text;
  for (size_t i = 0; i < look.columns.size(); ++i) {
    text += say(i ? ", " : "", name_of(look, i), " (", look.columns[i].distinct, " of ",
                look.columns[i].seen, " values differ", look.columns[i].numeric ? ", numbers" : "",
                ")");
  }
  return text;
}

double words_of(const ColumnInfo& column) { return column.mean_length / 5.5; }
bool is_varied(const ColumnInfo& c) { return c.seen >= 2 && c.distinct * 2 > c.seen; }

// Of a table: label and text, two texts, or numbers.
void infer_table(const std::string& path, const Look& look, FitData& data) {
  const auto& columns = look.columns;
  const bool task_said = !data.task.empty();
  const auto reason = [&](std::string text) { data.because.push_back(std::move(text)); };
  const auto numbers = static_cast<size_t>(
      std::ranges::count_if(columns, [](const ColumnInfo& c) { return c.numeric; }));
  std::vector<size_t> texts, labels, sources, targets;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].numeric && (is_varied(columns[i]) || is_named(columns[i], "text"))) {
      texts.push_back(i);
    }
    // A usual name of a label may be one of a text that is to be written: target.
    const bool is_text = !columns[i].numeric && is_varied(columns[i]);
    if (is_named(columns[i], "label") && !is_text) labels.push_back(i);
    if (is_named(columns[i], "source")) sources.push_back(i);
    if (is_named(columns[i], "target")) targets.push_back(i);
  }
  if (data.task.empty() && columns.size() >= 2 && numbers == columns.size()) {
    data.task = "regress";
    reason(say("task: regress, as all ", columns.size(), " columns are numbers"));
  }
  if (data.task == "regress") {
    check(columns.size() >= 2, path, ": has one column of numbers; which number is to be learned ",
          "from which? Give a file with both, the target last");
    reason(say("target: ", name_of(look, columns.size() - 1), ", the last; features: the ",
               columns.size() - 1, " before it"));
    return;
  }
  const bool pairs = columns.size() == 2 && texts.size() == 2 && labels.empty() &&
                     words_of(columns[0]) >= 1.2 && words_of(columns[1]) >= 1.2 &&
                     words_of(columns[0]) < 4 * words_of(columns[1]) + 4 &&
                     words_of(columns[1]) < 4 * words_of(columns[0]) + 4;
  if (data.task.empty() && labels.empty() &&
      ((!sources.empty() && !targets.empty() && texts.size() >= 2) || pairs)) {
    data.task = "translate";
    reason(pairs ? "task: translate, as both columns are texts that hardly repeat"
                 : "task: translate, by the names of the columns");
  }
  if (data.task == "translate") {
    if (!data.settings.has("columns") && !sources.empty() && !targets.empty()) {
      data.settings.set("columns", say("source=", reference(look, sources[0]),
                                       ",target=", reference(look, targets[0])));
    }
    return;
  }
  if (data.task.empty()) {
    check(
        !texts.empty() || columns.size() == 2, path,
        ": no column is a text to learn from, and not all are numbers; say --task, and --columns ",
        "label=..,text=..; it has ", list_columns(look));
    data.task = "classify";
    reason("task: classify, as there is a text and a column of few values");
  }
  const std::vector<Role> roles{{"label", Role::Kind::label}, {"text"}};
  const ColumnChoice choice =
      choose_columns(path, roles, columns, data.settings.get("columns"), {});
  const size_t label = choice.columns[0][0], text = choice.columns[1][0];
  const ColumnInfo &l = columns[label], &t = columns[text];
  const bool said = data.settings.has("columns");
  if (!said && !task_said && l.numeric && l.distinct > 20 && l.distinct * 4 > l.seen) {
    data.task = "regress";
    data.settings.set("columns",
                      say("target=", reference(look, label), ",text=", reference(look, text)));
    data.because.back() = "task: regress, as there is a text and a column of many numbers";
    reason(say("text: ", name_of(look, text), "; target: ", name_of(look, label)));
    return;
  }
  check(said || l.distinct * 2 <= l.seen || l.seen < 20 || is_named(l, "label"), path, ": is ",
        name_of(look, label), " a label? ", l.distinct, " of its first ", l.seen,
        " values differ. Say --columns label=..,text=.., or --task; it has ", list_columns(look));
  if (!said) {
    data.settings.set("columns",
                      say("label=", reference(look, label), ",text=", reference(look, text)));
  }
  reason(say("text: ", name_of(look, text), " (",
             static_cast<int64_t>(words_of(t) * 10 + 0.5) / 10.0, " words on average); label: ",
             name_of(look, label), " (", l.distinct, " values in the first ", l.seen, " rows)"));
}

// Lines that only seem to have columns, as verses that end in a comma.
bool is_one_text(const Look& look) {
  const auto filled = std::ranges::count_if(look.columns, [](const auto& c) { return c.seen > 0; });
  return filled == 1 && !look.columns[0].numeric && look.columns[0].name.empty();
}

// Lines that begin with one of few words begin with their label. All lines are looked at: a file
// may be sorted by it.
void infer_plain(const std::string& path, const Look& look, const FitAsked& asked, FitData& data) {
  if (data.task.empty()) {
    std::set<std::string> first;
    size_t lines = 0;
    LineReader reader(path);
    for (Got got = reader.next(); got != Got::end && first.size() < 10'000; got = reader.next()) {
      const auto words = split_at_spaces(got == Got::good ? reader.text() : std::string_view());
      if (words.size() < 2) continue;
      first.emplace(words[0]);
      ++lines;
    }
    const bool few = first.size() * 20 <= lines && first.size() <= 100;
    if (first.size() >= 2 && (few || (look.dialect.split && first.size() * 3 <= lines + 3))) {
      data.task = "classify";
      data.because.push_back(say("task: classify, as all ", lines, " lines begin with one of ",
                                 first.size(), " words: their label"));
    }
  }
  if (!data.task.empty()) return;
  data.task = "lm";
  data.because.push_back(
      say("task: lm, as ", path, " is plain text (", asked.files.size(), " file)"));
}

std::string two_of(const std::vector<std::string>& files) { return files[0] + "," + files[1]; }

}  // namespace

FitData infer_data(const FitAsked& asked) {
  check(!asked.files.empty(), "fit: needs a file");
  FitData data;
  data.task = asked.task;
  if (!asked.task.empty()) find_task(asked.task);
  std::vector<std::string> train;
  std::string dev = asked.dev, test = asked.test;
  for (const std::string& file : asked.files) {
    const std::string part = asked.files.size() > 1 ? part_named(file) : "";
    if (part == "dev" && dev.empty()) {
      dev = file;
    } else if (part == "test" && test.empty()) {
      test = file;
    } else {
      train.push_back(file);
    }
  }
  const bool parallel = train.size() == 2 && data.task != "classify" && data.task != "label";
  check(train.size() == 1 || parallel, "fit: which of ", asked.files.size(),
        " files is learned from? Names with train, dev and test in them tell; or give one file, ",
        "and --dev and --test");
  const std::string builtin = "builtin:";
  if (train[0].starts_with(builtin)) {
    check(!data.task.empty(), "fit: for built-in data give --task");
  }
  data.settings.set("skip_bad", "true");  // the audit counts them
  data.settings.set("data", train.size() == 2 ? two_of(train) : train[0]);
  if (!dev.empty()) data.settings.set("dev", dev);
  if (!test.empty()) data.settings.set("test", test);
  if (!asked.columns.empty()) data.settings.set("columns", asked.columns);
  if (asked.files.size() > 1) {
    data.because.push_back(say("parts: learned from ", data.settings.get("data"),
                               dev.empty() ? "" : say(", validated on ", dev),
                               test.empty() ? "" : say(", tested on ", test), ", by their names"));
  }
  if (dev.empty() || test.empty()) {
    data.because.push_back(say("split: ", dev.empty() ? "a tenth validates" : "",
                               dev.empty() && test.empty() ? ", " : "",
                               test.empty() ? "a tenth tests" : "",
                               "; drawn, the same every time; give --dev and --test to choose"));
  }
  if (train[0].starts_with(builtin)) return data;
  if (train.size() == 2) {
    if (data.task.empty()) data.because.push_back("task: translate, as there are two files");
    data.task = "translate";
    return data;
  }
  const std::string& path = train[0];
  const Look look = look_at(path);
  if (look.conll) {
    if (data.task.empty()) {
      data.because.push_back(
          "task: label, as words stand below each other, with empty lines "
          "between sentences");
      data.task = "label";
    }
  } else if (look.dialect.format == "text" || is_one_text(look)) {
    infer_plain(path, look, asked, data);
  } else if (data.task.empty() || data.task == "classify" || data.task == "translate" ||
             data.task == "regress") {
    infer_table(path, look, data);
  }
  return data;
}

}  // namespace fovea
