#include "fovea/task/fit/inference.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/line_reader.h"
#include "fovea/task/fit/look.h"
#include "fovea/task/fit/roles.h"
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

// Lines that only seem to have columns, as verses that end in a comma.
bool is_one_text(const Look& look) {
  const auto filled = std::ranges::count_if(look.columns, [](const auto& c) { return c.seen > 0; });
  return filled == 1 && !look.columns[0].numeric && look.columns[0].name.empty();
}

// Lines that begin with one of few words begin with their label. All lines are looked at: a file
// may be sorted by it.
void infer_plain(const std::string& path, const Look& look, FitData& data) {
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
  data.because.push_back(say("task: lm, as ", path, " is plain text"));
}

std::string two_of(const std::vector<std::string>& files) { return files[0] + "," + files[1]; }

// Rows of two tables do not stand beside each other as the lines of two texts do.
void refuse_two_tables(const std::vector<std::string>& files) {
  const bool tables = std::ranges::all_of(
      files, [](const std::string& file) { return is_table(look_at(file, true)); });
  check(!tables, "fit: ", files[0], " and ", files[1],
        " are tables, of which one is learned from: put the rows of both into one file, or name ",
        "one of them with --dev or --test");
}

// Gives what divides the data into parts, where it does that itself.
std::string infer_task(const std::vector<std::string>& train, const FitAsked& asked,
                       FitData& data) {
  const std::string& path = train[0];
  const auto take = [&](const FoundForm& form) {
    if (!data.task.empty() && data.task != form.task) return;  // who says so knows better
    if (data.task.empty()) data.because.push_back(form.because);
    data.task = form.task;
    if (!form.data.empty()) data.settings.set("data", form.data);
  };
  if (train.size() == 2) {
    if (!data.task.empty() && data.task != "translate" && data.task != "graph") return "";
    const FoundForm form = form_of_two(train);
    if (form.task != "graph" && asked.task.empty()) refuse_two_tables(train);
    take(form);
    return "";
  }
  if (fs::is_directory(path)) {
    if (!data.task.empty()) return "";
    const FoundForm form = form_of_folder(path);
    take(form);
    return form.divided;
  }
  const Look look = look_at(path, !data.task.empty());
  if (look.conll) {
    take({"label",
          "task: label, as words stand below each other, with empty lines between sentences"});
  } else if (!look.form.task.empty()) {
    take(look.form);
  } else if (look.dialect.format == "text" || is_one_text(look)) {
    infer_plain(path, look, data);
  } else {
    infer_table(path, look, data);
  }
  return look.form.divided;
}

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// "a.en,a.de" are two files, as train takes them, unless one file has that very name.
std::vector<std::string> files_in(const std::string& word) {
  std::vector<std::string> files;
  if (is_there(word)) return {word};
  for (size_t from = 0; from <= word.size();) {
    const size_t to = std::min(word.find(',', from), word.size());
    files.push_back(word.substr(from, to - from));
    if (!is_there(files.back())) return {word};
    from = to + 1;
  }
  return files;
}

struct FilesByPart {
  std::vector<std::string> train;
  std::string dev, test;
  bool by_names = false;  // that told dev or test
};

FilesByPart by_part(const FitAsked& asked) {
  FilesByPart parts{{}, asked.dev, asked.test};
  for (const std::string& file : asked.files) {
    const std::string part = asked.files.size() > 1 ? part_named(file) : "";
    std::string* held_out = part == "dev" ? &parts.dev : part == "test" ? &parts.test : nullptr;
    if (held_out && held_out->empty()) {
      *held_out = file;
      parts.by_names = true;
    } else {
      for (std::string& one : files_in(file)) parts.train.push_back(std::move(one));
    }
  }
  return parts;
}

// Where roles are said, they say the task; those of several tasks leave it to the content.
void infer_by_roles(const std::vector<std::string>& roles, FitData& data) {
  if (roles.empty()) return;
  data.task = task_of_roles(roles);
  if (data.task.empty()) return;
  data.because.push_back(say("task: ", data.task, ", as --columns names ", listed(roles)));
}

// "a tenth", or in percent where there is no such word.
std::string words_for(double part) {
  for (const auto& [value, words] : {std::pair(0.05, "a twentieth"), std::pair(0.1, "a tenth"),
                                     std::pair(0.2, "a fifth"), std::pair(0.25, "a quarter")}) {
    if (std::abs(part - value) < 1e-9) return words;
  }
  return say(static_cast<double>(std::llround(1000 * part)) / 10, " %");
}

// What is held out where no file is given for it, as the task does that.
std::string split_line(const Config& config) {
  const auto& reads = find_task(config.task).data_options;
  const auto is_read = [&](const char* option) {
    return std::ranges::find(reads, option) != reads.end();
  };
  const bool dev = config.dev.empty(), test = config.test.empty();
  if (!is_read("dev_part") || (!dev && !test)) return "";
  const std::string validates = words_for(config.dev_part), tests = words_for(config.test_part);
  std::string line = "split: ";
  if (config.task == "lm") {  // a text is cut, not drawn from
    line += "of the end of the text ";
    if (test) line += tests + " tests";
    if (dev) line += (test ? ", and before it " : "") + validates + " validates";
  } else {
    if (dev) line += validates + " validates";
    if (test) line += (dev ? ", " + tests + " of the rest" : tests) + " tests";
    line += "; drawn, the same every time";
  }
  if (!is_read("dev")) return line;
  return line + "; give " + (dev ? "--dev" : "") + (dev && test ? " and " : "") +
         (test ? "--test" : "") + " to choose";
}

}  // namespace

FitData infer_data(const FitAsked& asked) {
  check(!asked.files.empty(), "fit: needs a file");
  FitData data;
  data.task = asked.task;
  if (!asked.task.empty()) find_task(asked.task);
  const auto roles = asked.task.empty() ? roles_in(asked.columns) : std::vector<std::string>();
  infer_by_roles(roles, data);
  const auto [train, dev, test, by_names] = by_part(asked);
  const bool may_be_two = data.task.empty() || data.task == "translate" || data.task == "graph" ||
                          data.task == "links" || data.task == "image";
  check(train.size() == 1 || (train.size() == 2 && may_be_two), "fit: which of ",
        train.size() + !dev.empty() + !test.empty(),
        " files is learned from? Names with train, dev and test in them tell; or give one file, ",
        "and --dev and --test");
  const std::string builtin = "builtin:";
  if (train[0].starts_with(builtin)) {
    check(!data.task.empty(), "fit: for built-in data give --task");
  }
  data.settings.set("data", train.size() == 2 ? two_of(train) : train[0]);
  if (!dev.empty()) data.settings.set("dev", dev);
  if (!test.empty()) data.settings.set("test", test);
  if (!asked.columns.empty()) data.settings.set("columns", asked.columns);
  if (by_names) {
    data.because.push_back(say("parts: learned from ", data.settings.get("data"),
                               dev.empty() ? "" : say(", validated on ", dev),
                               test.empty() ? "" : say(", tested on ", test), ", by their names"));
  }
  std::string divided;
  if (!train[0].starts_with(builtin)) divided = infer_task(train, asked, data);
  const Task& task = find_task(data.task);
  check_roles(train[0], task, roles);
  const auto& read = task.data_options;
  if (std::ranges::find(read, "skip_bad") != read.end()) {
    data.settings.set("skip_bad", "true");  // the audit counts them
  }
  data.settings.set(asked.set);
  const std::string split = !divided.empty() && dev.empty() && test.empty()
                                ? "split: " + divided
                                : split_line(make_config(task, data.settings));
  if (!split.empty()) data.because.push_back(split);
  return data;
}

}  // namespace fovea
