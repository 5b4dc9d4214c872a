#include "fovea/task/fit/inference.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/line_reader.h"
#include "fovea/task/fit/look.h"
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
    take(form_of_two(train));
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
    infer_plain(path, look, asked, data);
  } else {
    infer_table(path, look, data);
  }
  return look.form.divided;
}

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
  const bool parallel =
      train.size() == 2 && (data.task.empty() || data.task == "translate" || data.task == "graph");
  check(train.size() == 1 || parallel, "fit: which of ", asked.files.size(),
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
  if (asked.files.size() > 1) {
    data.because.push_back(say("parts: learned from ", data.settings.get("data"),
                               dev.empty() ? "" : say(", validated on ", dev),
                               test.empty() ? "" : say(", tested on ", test), ", by their names"));
  }
  std::string divided;
  if (!train[0].starts_with(builtin)) divided = infer_task(train, asked, data);
  if (!divided.empty() && dev.empty() && test.empty()) {
    data.because.push_back("split: " + divided);
  } else if (dev.empty() || test.empty()) {
    const bool quarter = data.task == "regress" && !data.settings.has("columns");
    data.because.push_back(say("split: ", dev.empty() ? "a tenth validates" : "",
                               dev.empty() && test.empty() ? ", " : "",
                               test.empty() ? (quarter ? "a quarter tests" : "a tenth tests") : "",
                               "; drawn, the same every time; give --dev and --test to choose"));
  }
  const auto& read = find_task(data.task).data_options;
  if (std::ranges::find(read, "skip_bad") != read.end()) {
    data.settings.set("skip_bad", "true");  // the audit counts them
  }
  return data;
}

}  // namespace fovea
