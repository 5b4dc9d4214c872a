// fovea arena: ways of attention against each other on five tasks of long sequences, after the Long
// Range Arena (Tay et al. 2021). Each task is one comparison, in a folder of its own; the table and
// the page are made from their results.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/interrupt.h"
#include "fovea/app/cli/jobs.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/attention/catalog.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/names.h"
#include "fovea/base/parallel.h"
#include "fovea/report/comparison_page.h"

namespace fovea::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// One of the five.
struct ArenaTask {
  const char *name, *task, *data;  // data: what is generated where no file is given
};
constexpr ArenaTask arena_tasks[] = {{"listops", "classify", "builtin:listops"},
                                     {"text", "classify", "builtin:sentiment"},
                                     {"retrieval", "pair", "builtin:documents"},
                                     {"image", "classify", "builtin:shapes"},
                                     {"pathfinder", "classify", "builtin:pathfinder"}};

struct ArenaWords {
  std::string out;
  std::vector<std::string> tasks, attention, data, dev, test, set;
  std::string time, steps, epochs;
  int64_t seeds = 1, jobs = 0;
  bool print_json = false;
};

std::vector<std::string> names_in(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');) names.push_back(name);
  }
  return names;
}

void check_names(const char* what, const std::vector<std::string>& asked,
                 const std::vector<std::string>& known) {
  for (const std::string& name : asked) {
    if (std::ranges::find(known, name) == known.end()) {
      throw UsageError(unknown_name(what, name, known));
    }
  }
}

// "listops=train.tsv" of a list, by task.
std::map<std::string, std::string> by_task(const std::vector<std::string>& words,
                                           const std::vector<std::string>& known) {
  std::map<std::string, std::string> files;
  for (const std::string& word : words) {
    const auto [name, file] = key_and_value(word);
    check_names("task of the arena", {name}, known);
    files[name] = file;
  }
  return files;
}

json read_json(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file, nullptr, false);
}

// The results of all tasks as one comparison: a choice a method, a metric a task, and their mean.
json joined(const std::vector<std::string>& tasks, const std::vector<json>& results,
            const std::string& command) {
  std::map<std::string, json> choices;
  std::vector<std::string> order;
  std::string version, made, machine, budget;
  for (size_t t = 0; t < tasks.size(); ++t) {
    const std::string main = results[t]["metric"].value("name", "accuracy");
    version = results[t].value("version", ""), made = results[t].value("made", "");
    machine = results[t].value("machine", ""), budget = results[t].value("budget", "");
    for (const json& one : results[t]["choices"]) {
      std::string name = one.value("name", "");
      if (const size_t at = name.find("attention="); at != name.npos) name = name.substr(at + 10);
      if (!choices.contains(name)) {
        order.push_back(name);
        choices[name] = {
            {"name", name}, {"metrics", json::object()}, {"parts", json::array()}, {"failed", ""}};
      }
      json& to = choices[name];
      if (one["metrics"].contains(main)) {
        to["metrics"][tasks[t]] = one["metrics"][main];
      } else {
        to["failed"] = fmt::format("{}: {}", tasks[t], one.value("failed", "not measured"));
      }
      to["parts"].push_back({{"step_ms", one["step_ms"]}, {"peak_mb", one["peak_mb"]}});
    }
  }
  json list = json::array();
  double best = -1;
  for (const std::string& name : order) {
    json& choice = choices[name];
    double sum = 0, ms = 0, mb = 0, parts = 0;
    for (const auto& [task, value] : choice["metrics"].items()) sum += value["mean"].get<double>();
    for (const json& part : choice["parts"]) {
      if (!part["step_ms"].is_number() || !part["peak_mb"].is_number()) continue;
      ms += part["step_ms"].get<double>(), ++parts;
      mb = std::max(mb, part["peak_mb"].get<double>());
    }
    choice.erase("parts");
    if (choice["metrics"].size() == tasks.size()) {
      const double mean = sum / static_cast<double>(tasks.size());
      choice["metrics"]["accuracy"] = {{"mean", mean}, {"spread", nullptr}, {"values", {mean}}};
      best = std::max(best, mean);
    }
    if (parts > 0) choice["step_ms"] = ms / parts, choice["peak_mb"] = mb;
    list.push_back(choice);
  }
  for (json& choice : list) {
    choice["best"] = choice["metrics"].contains("accuracy") &&
                     choice["metrics"]["accuracy"]["mean"].get<double>() == best;
  }
  std::vector<std::string> metrics{"accuracy"};
  metrics.insert(metrics.end(), tasks.begin(), tasks.end());
  std::string shown;
  for (const std::string& task : tasks) shown += (shown.empty() ? "" : ", ") + task;
  return {{"title", "Long Range Arena"},
          {"task", "arena"},
          {"data", shown},
          {"budget", budget},
          {"command", command},
          {"made", made},
          {"version", version},
          {"machine", machine},
          {"metrics", metrics},
          {"metric", {{"name", "accuracy"}, {"higher_is_better", true}}},
          {"seeds", json::array()},
          {"choices", list}};
}

void print_table(const json& all, const std::vector<std::string>& tasks) {
  fmt::print("{:<16}", "attention");
  for (const std::string& task : tasks) fmt::print(" {:>10}", task);
  fmt::print(" {:>7} {:>8} {:>7}\n", "mean", "ms/step", "MB");
  for (const json& choice : all["choices"]) {
    fmt::print("{:<16}", choice["name"].get<std::string>());
    const auto cell = [&](const std::string& name, int width) {
      const bool there = choice["metrics"].contains(name);
      fmt::print(
          " {:>{}}",
          there ? fmt::format("{:.1f}", 100 * choice["metrics"][name]["mean"].get<double>()) : "-",
          width);
    };
    for (const std::string& task : tasks) cell(task, 10);
    cell("accuracy", 7);
    const auto figure = [&](const char* key, int width, const char* form) {
      const bool there = choice.contains(key) && choice[key].is_number();
      fmt::print(" {:>{}}",
                 there ? fmt::format(fmt::runtime(form), choice[key].get<double>()) : "-", width);
    };
    figure("step_ms", 8, "{:.1f}");
    figure("peak_mb", 7, "{:.0f}");
    fmt::print("\n");
    const std::string failed = choice.value("failed", "");
    if (!failed.empty()) fmt::print("  failed: {}\n", failed);
  }
}

int arena(const ArenaWords& words) {
  std::vector<std::string> known;
  for (const ArenaTask& task : arena_tasks) known.emplace_back(task.name);
  std::vector<std::string> tasks = names_in(words.tasks), methods = names_in(words.attention);
  if (tasks.empty()) tasks = known;
  if (methods.empty()) methods = self_attention_names();
  check_names("task of the arena", tasks, known);
  check_names("attention", methods, self_attention_names());
  const auto data = by_task(words.data, known), dev = by_task(words.dev, known),
             test = by_task(words.test, known);
  for (const auto* files : {&dev, &test}) {
    for (const auto& [name, file] : *files) {
      if (!data.contains(name)) {
        throw UsageError(say("arena: ", name,
                             " is given a file to measure on, but none to learn "
                             "from; say --data ",
                             name, "=FILE too"));
      }
    }
  }
  std::string vary = "attention=", command = "fovea arena";
  for (const std::string& name : methods) vary += (vary.ends_with('=') ? "" : ",") + name;
  command += " --tasks " + tasks[0];
  for (size_t i = 1; i < tasks.size(); ++i) command += "," + tasks[i];
  command += " --attention " + vary.substr(vary.find('=') + 1);
  const auto say_again = [&command](const char* flag, const std::string& value) {
    if (!value.empty()) command += say(" ", flag, " ", shell_word(value));
  };
  for (const std::string& file : words.data) say_again("--data", file);
  for (const std::string& file : words.dev) say_again("--dev", file);
  for (const std::string& file : words.test) say_again("--test", file);
  say_again("--time", words.time), say_again("--steps", words.steps);
  say_again("--epochs", words.epochs);
  for (const std::string& set : words.set) say_again("--set", set);
  if (words.seeds > 1) say_again("--seeds", std::to_string(words.seeds));
  say_again("--out", words.out);
  const std::atomic<bool>& interrupted = watch_for_interrupt();
  std::vector<json> results;
  for (const std::string& name : tasks) {
    const ArenaTask& task = *std::ranges::find(arena_tasks, name, &ArenaTask::name);
    const std::string folder = words.out + "/" + name;
    std::vector<std::string> run{own_path(),
                                 "compare",
                                 task.task,
                                 "--preset",
                                 "arena-" + name,
                                 "--vary",
                                 vary,
                                 "--out",
                                 folder,
                                 "--maps",
                                 "0",
                                 "--seeds",
                                 std::to_string(words.seeds)};
    const auto add = [&run](const std::string& flag, const std::string& value) {
      if (!value.empty()) run.insert(run.end(), {flag, value});
    };
    add("--data", data.contains(name) ? data.at(name) : task.data);
    add("--dev", dev.contains(name) ? dev.at(name) : "");
    add("--test", test.contains(name) ? test.at(name) : "");
    add("--time", words.time), add("--steps", words.steps), add("--epochs", words.epochs);
    if (words.jobs > 0) add("--jobs", std::to_string(words.jobs));
    for (const std::string& set : words.set) add("--set", set);
    const bool out_was_there = fs::exists(words.out), was_there = fs::exists(folder);
    fs::create_directories(folder);
    fmt::print(stderr, "{}\n", name);
    // A table of before must not be taken for this one's.
    const std::string table = folder + "/comparison.json";
    const auto before = fs::exists(table) ? fs::last_write_time(table) : fs::file_time_type::min();
    int code = 0;
    run_jobs(
        {{{run}, folder + "/log.txt"}}, 1, threads(), [&](size_t, int ended) { code = ended; },
        [](const std::vector<size_t>&) {}, [&] { return interrupted.load(); });
    if (interrupted) {
      fmt::print(stderr, "fovea: interrupted; the same command again goes on\n");
      return 130;
    }
    results.push_back(read_json(table));
    const bool old = code != 0 && fs::exists(table) && fs::last_write_time(table) == before;
    if (old || !results.back().is_object()) {
      std::ifstream log(folder + "/log.txt");
      std::string line, last;
      while (std::getline(log, line)) {
        if (line.starts_with("fovea: ")) last = line.substr(7);
      }
      const std::string sentence =
          say("arena: ", name, ": ", last.empty() ? say("failed, see ", folder, "/log.txt") : last);
      if (!last.empty() && !fs::exists(folder + "/runs")) {  // refused words leave nothing behind
        std::error_code not_empty;
        fs::remove(folder + "/log.txt", not_empty);
        if (!was_there) fs::remove(folder, not_empty);
        if (!out_was_there) fs::remove(words.out, not_empty);
      }
      if (code == 2) throw UsageError(sentence);
      fail(sentence);
    }
  }
  const json all = joined(tasks, results, command);
  const auto write = [&](const std::string& path, const std::string& text) {
    write_file_atomically(path, std::as_bytes(std::span(text)));
  };
  write(words.out + "/arena.json", json_text(all, 2) + "\n");
  const std::string report = words.out + "/report.html";
  write(report, comparison_page(all));
  if (words.print_json) {
    fmt::print("{}\n", json_text(all));
  } else {
    print_table(all, tasks);
    fmt::print("\nReport: {}\n", fs::absolute(report).lexically_normal().string());
  }
  return std::ranges::any_of(all["choices"],
                             [](const json& c) { return !c.value("failed", "").empty(); });
}

}  // namespace

void add_arena(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand(
      "arena", "Compare ways of attention on five tasks of long sequences (Long Range Arena)");
  auto words = std::make_shared<ArenaWords>();
  verb->add_option("--out", words->out, "Folder of the comparisons and the report")->required();
  verb->add_option("--tasks", words->tasks,
                   "Some of listops, text, retrieval, image, pathfinder; else all")
      ->type_name("A,B");
  verb->add_option("--attention", words->attention, "Ways of attention (fovea list); else all")
      ->type_name("A,B");
  verb->add_option("--data", words->data, "A file to learn from in the place of generated data")
      ->type_name("TASK=FILE");
  verb->add_option("--dev", words->dev, "A file to validate on")->type_name("TASK=FILE");
  verb->add_option("--test", words->test, "A file to measure on")->type_name("TASK=FILE");
  verb->add_option("--time", words->time, "Budget of each run, as 5m; else 20m");
  verb->add_option("--steps", words->steps, "Budget of each run in steps");
  verb->add_option("--epochs", words->epochs, "Budget of each run in epochs");
  verb->add_option("--set", words->set, "Any option of the runs")->type_name("KEY=VALUE");
  verb->add_option("--seeds", words->seeds, "Runs of each, with seeds 0, 1, ...")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--jobs", words->jobs, "Runs at a time; 0: one for each thread")
      ->check(CLI::Range(0, 1000));
  verb->add_flag("--json", words->print_json, "Print the result as JSON");
  verb->callback([words, &exit_code] { exit_code = arena(*words); });
}

}  // namespace fovea::cli
