// fovea compare TASK: every choice under the same budget, data order and first seeds; a table, and
// a page to send to each other.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/app/cli/compare_table.h"
#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/interrupt.h"
#include "fovea/app/cli/jobs.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/rank_jobs.h"
#include "fovea/app/cli/ranks.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "fovea/report/comparison_page.h"
#include "fovea/task/comparison.h"

namespace fovea::cli {
namespace {

namespace fs = std::filesystem;

struct CompareWords {
  std::string task, out;
  std::vector<std::string> vary, choices;
  int64_t seeds = 1, jobs = 0, maps = 6;
  std::unique_ptr<ConfigWords> config;
  bool json = false;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

std::string name_of(const Settings& choice) {
  std::string name;
  for (const auto& [key, value] : choice) {
    name += fmt::format("{}{}={}", name.empty() ? "" : ",", key, value);
  }
  std::ranges::replace(name, '/', '_');  // it is the name of a folder
  return name;
}

// Every combination of what --vary lists, then what --choice gives.
std::vector<Settings> choices_of(const CompareWords& words) {
  std::vector<Settings> all;
  if (!words.vary.empty()) all.push_back({});
  for (const std::string& vary : words.vary) {
    const auto [key, values] = key_and_value(vary);
    std::vector<Settings> longer;
    for (const Settings& begun : all) {
      for (const std::string& value : split(values, ',')) {
        longer.push_back(begun);
        longer.back().set(key, value);
      }
    }
    all = std::move(longer);
  }
  for (const std::string& choice : words.choices) {
    all.push_back({});
    for (const std::string& part : split(choice, ',')) {
      const auto [key, value] = key_and_value(part);
      all.back().set(key, value);
    }
  }
  return all;
}

nlohmann::json to_json_pairs(const Settings& settings) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [key, value] : settings) list.push_back({key, value});
  return list;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

// The choices that a folder holds runs of, as their folders are called.
std::vector<std::string> choices_in(const std::string& out) {
  std::vector<std::string> names;
  if (fs::exists(out + "/runs")) {
    for (const auto& entry : fs::directory_iterator(out + "/runs")) {
      if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

// What the runs of a folder read: their own configs say so, as a folder's name has lost the slashes
// of what was chosen.
std::set<std::string> read_by_runs(const std::string& out) {
  std::set<std::string> read;
  for (const std::string& name : choices_in(out)) {
    for (const auto& seed : fs::directory_iterator(out + "/runs/" + name)) {
      const auto config =
          nlohmann::json::parse(text_of(seed.path() / "config.json"), nullptr, false);
      const nlohmann::json options =
          config.is_object() ? config.value("options", nlohmann::json::object()) : nlohmann::json();
      for (const auto& [option, value] : options.items()) read.insert(option);
    }
  }
  return read;
}

// What the files of data held: a number for each that is there.
nlohmann::json contents_of(const Settings& settings) {
  nlohmann::json contents = nlohmann::json::object();
  for (const char* name : {"data", "dev", "test"}) {
    for (const std::string& path : split(settings.get(name), ',')) {
      if (!fs::is_regular_file(path)) continue;
      std::ifstream file(path, std::ios::binary);
      std::string block(1 << 20, '\0');
      uint64_t hash = 0;
      while (file.read(block.data(), static_cast<std::streamsize>(block.size())) ||
             file.gcount() > 0) {
        hash = hash * 31 + hash_name({block.data(), static_cast<size_t>(file.gcount())});
      }
      contents[path] = hash;
    }
  }
  return contents;
}

// Of a setting that a comparison was made with and this command was not given, or the other way
// round, in words: "--steps 30, here --steps 20".
std::string difference(const Settings& theirs, const Settings& mine,
                       const std::set<std::string>& read) {
  const auto words = [](const Settings& settings, const std::string& name) {
    return settings.has(name) ? setting_words(name, settings.get(name)) : "no --" + name;
  };
  for (const Settings* settings : {&theirs, &mine}) {
    for (const auto& [name, text] : *settings) {
      const bool both = theirs.has(name) && mine.has(name);
      // A preset says more than choices read: that makes no difference.
      if (both ? theirs.get(name) == mine.get(name) : !read.contains(name)) continue;
      return words(theirs, name) + ", here " + words(mine, name);
    }
  }
  return "";
}

// A folder holds one comparison: runs under other settings, or on other data, do not belong beside
// each other.
void claim_folder(const CompareWords& words, const Task& task, const Settings& all,
                  const std::vector<Settings>& choices) {
  make_folder(words.out);
  const std::string path = words.out + "/compare.json";
  const nlohmann::json contents = contents_of(all);
  if (fs::exists(path)) {
    nlohmann::json before = nlohmann::json::parse(text_of(path), nullptr, false);
    const bool known =
        before.is_object() && before["settings"].is_array() && before["task"].is_string();
    check(known, path, ": is not what a comparison was made with; give another --out");
    check(before["task"] == task.name, words.out, ": holds a comparison of the task ",
          before["task"].get<std::string>(), "; give another --out");
    Settings theirs;
    for (const auto& pair : before["settings"]) {
      if (pair.is_array() && pair.size() == 2 && pair[0].is_string() && pair[1].is_string()) {
        theirs.set(pair[0].get<std::string>(), pair[1].get<std::string>());
      }
    }
    std::set<std::string> read = as_usage([&] { return read_by_any(task, all, choices); });
    read.merge(read_by_runs(words.out));
    const std::string apart = difference(theirs, all, read);
    check(apart.empty(), words.out, ": holds a comparison made with other settings (", apart,
          "); give the same ones to add to it, or another --out");
    const nlohmann::json then = before.value("files", nlohmann::json::object());
    for (const auto& [file, hash] : then.items()) {
      check(!contents.contains(file) || contents[file] == hash, words.out,
            ": holds a comparison on what ", file, " was before it changed; give another --out");
    }
    return;
  }
  const nlohmann::json mine{
      {"task", words.task}, {"settings", to_json_pairs(all)}, {"files", contents}};
  write_text(path, json_text(mine, 2) + "\n");
}

struct Planned {
  std::string choice, folder;
  int64_t seed;
  Job job;
};

std::vector<Planned> plan(const CompareWords& words, const Settings& base,
                          const std::vector<Settings>& choices, int64_t first_seed) {
  std::vector<Planned> all;
  // A whole round before the next seed.
  for (int64_t seed = first_seed; seed < first_seed + words.seeds; ++seed) {
    for (const Settings& choice : choices) {
      const std::string name = name_of(choice);
      const std::string folder = fmt::format("{}/runs/{}/seed-{}", words.out, name, seed);
      if (fs::exists(folder + "/summary.json") && fs::exists(folder + "/eval.json")) continue;
      // What suits one choice need not suit another: all have the same, and the same budget.
      std::vector<std::string> train{own_path(), "train",    words.task, "--out",
                                     folder,     "--resume", "--no-suit"};
      Settings settings = read_by_choice(find_task(words.task), base, choice);
      settings.set("seed", std::to_string(seed));
      for (const auto& [key, value] : settings) {
        train.insert(train.end(), {"--set", key + "=" + value});
      }
      const std::vector<std::string> eval{own_path(),
                                          "eval",
                                          folder,
                                          "--details",
                                          folder + "/eval.json",
                                          "--maps",
                                          std::to_string(words.maps)};
      make_folder(folder);
      all.push_back({name, folder, seed, {{train, eval}, folder + "/log.txt"}});
    }
  }
  return all;
}

// One line that says how far the running ones are.
std::string state_of(const std::vector<Planned>& plan, const std::vector<size_t>& running,
                     size_t finished) {
  std::string text = fmt::format("{} of {} runs done", finished, plan.size());
  for (size_t i : running) {
    text += fmt::format("; {}", plan[i].choice);
    std::string line, last;
    std::ifstream file(plan[i].folder + "/metrics.jsonl");
    while (std::getline(file, line)) last = line;
    const auto json = nlohmann::json::parse(last, nullptr, false);
    if (json.is_object()) {
      text += fmt::format(" {} loss {:.3f}", clock_text(json.value("seconds", 0.0)),
                          json.value("loss", 0.0));
    }
  }
  return text;
}

// False when it was interrupted.
bool run_all(const std::vector<Planned>& plan, int64_t jobs, int ranks) {
  if (plan.empty()) return true;
  const std::atomic<bool>& interrupted = watch_for_interrupt();
  // Beside other ranks, each has one run at a time, with all its threads.
  const int most = jobs > 0 ? static_cast<int>(jobs) : ranks > 1 ? 1 : threads();
  const int at_once = std::min<int>(most, static_cast<int>(plan.size()));
  const bool terminal = isatty(STDERR_FILENO);
  std::vector<Job> list;
  for (const Planned& one : plan) list.push_back(one.job);
  fmt::print(stderr, "{} run{}, {} at a time\n", plan.size(), plan.size() == 1 ? "" : "s",
             std::min<int>(at_once + ranks - 1, static_cast<int>(plan.size())));
  size_t finished = 0;
  int ticks = 0;
  run_jobs(
      list, at_once, std::max(1, threads() / at_once),
      [&](size_t i, int code) {
        ++finished;
        fmt::print(stderr, "{}{} seed {}: {}\n", terminal ? "\r\x1b[K" : "", plan[i].choice,
                   plan[i].seed, code == 0 ? "done" : "failed, see " + plan[i].job.log);
      },
      [&](const std::vector<size_t>& running) {
        if (!terminal || ticks++ % 5 != 0) return;
        std::string text = state_of(plan, running, finished);
        const auto room = static_cast<size_t>(terminal_width() - 1);
        if (text.size() > room) text.resize(room);
        fmt::print(stderr, "\r\x1b[K{}", text);
        std::fflush(stderr);
      },
      [&] { return interrupted.load(); });
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  return !interrupted;
}

// The words that make this comparison again; for who adds to it, the choices and seeds that were
// there too.
std::string command_of(const CompareWords& words, const Settings& base, int64_t first_seed) {
  std::string command = "fovea compare " + words.task;
  std::set<std::string> said;
  for (const Settings& choice : choices_of(words)) said.insert(name_of(choice));
  for (const std::string& vary : words.vary) command += " --vary " + shell_word(vary);
  for (const std::string& choice : words.choices) command += " --choice " + shell_word(choice);
  int64_t seeds = words.seeds;
  for (const std::string& name : choices_in(words.out)) {
    const auto has = [&](int64_t seed) {
      return fs::exists(fmt::format("{}/runs/{}/seed-{}", words.out, name, seed));
    };
    while (has(first_seed + seeds)) ++seeds;
    if (!said.contains(name)) command += " --choice " + shell_word(name);
  }
  // Of a preset's settings and one's own the last one counts; an option is said once.
  std::map<std::string, std::string> last;
  for (const auto& [key, value] : base) last[key] = value;
  for (const auto& [key, value] : last) command += " " + setting_words(key, value);
  if (words.maps != CompareWords().maps) command += fmt::format(" --maps {}", words.maps);
  return command + fmt::format(" --seeds {} --out {}", seeds, shell_word(words.out));
}

nlohmann::json about(const CompareWords& words, const Settings& base, const Config& config) {
  const std::time_t now = std::time(nullptr);
  char day[32];
  std::strftime(day, sizeof day, "%Y-%m-%d", std::localtime(&now));
  std::string budget;  // whichever ends first
  const auto add = [&budget](const std::string& part) {
    budget += (budget.empty() ? "" : " or ") + part;
  };
  if (config.steps > 0) add(with_commas(config.steps) + " steps");
  if (config.epochs > 0) add(with_commas(config.epochs) + " epochs");
  if (!config.time.empty()) add(config.time);
  budget += " each";
  return {{"title", fmt::format("{} on {}", words.task, config.data)},
          {"task", words.task},
          {"data", config.data},
          {"budget", budget},
          {"command", command_of(words, base, config.seed)},
          {"made", day},
          {"version", FOVEA_VERSION},
          {"machine", fmt::format("{} threads, {}", threads(), kernel::simd_target())}};
}

// Two of one name would be two processes in one folder, and two that come to the same words are a
// model beside itself.
void refuse_repeated(const std::vector<Settings>& choices, const std::vector<Config>& configs) {
  for (size_t i = 0; i < choices.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const std::string name = name_of(choices[i]), earlier = name_of(choices[j]);
      if (name == earlier) {
        throw UsageError(say("compare: two choices are called '", name,
                             "' and would be run in one folder; leave one out"));
      }
      if (configs[i].settings == configs[j].settings) {
        throw UsageError(say("compare: the choices '", earlier, "' and '", name,
                             "' come to the same settings; leave one out"));
      }
    }
  }
}

// The first choice's; every choice must be one that can be trained, and what was said for all of
// them must count for at least one.
Config config_of_choices(const Task& task, const Settings& base,
                         const std::vector<Settings>& choices) {
  std::set<std::string> read;
  std::vector<Config> configs;
  for (const Settings& choice : choices) {
    if (choice.has("seed")) {
      throw UsageError(
          "compare: 'seed' is no choice, as all choices are run with the same seeds; give "
          "--seeds for how many, and --seed for the first");
    }
    const Settings settings = as_usage([&] { return read_by_choice(task, base, choice); });
    for (const auto& [name, text] : settings) read.insert(name);
    configs.push_back(as_usage([&] { return make_config(task, settings); }));
  }
  for (const auto& [name, text] : base) {
    if (!read.contains(name)) {
      throw UsageError(say("compare: option '", name, "' is read by none of the choices"));
    }
  }
  refuse_repeated(choices, configs);
  return configs[0];
}

// "3 seeds"; "1 to 3 seeds" where one was added to others.
std::string seeds_in_words(const Comparison& comparison) {
  size_t least = SIZE_MAX, most = 0;
  for (const auto& choice : comparison.choices) {
    if (choice.seeds.empty()) continue;
    least = std::min(least, choice.seeds.size()), most = std::max(most, choice.seeds.size());
  }
  if (most == 0) return "no seed";
  return (least < most ? fmt::format("{} to {}", least, most) : fmt::format("{}", most)) + " seed" +
         (most == 1 ? "" : "s");
}

int compare(const CompareWords& words) {
  const Task& task = task_named(words.task);
  const auto choices = choices_of(words);
  const Settings base = words.config->settings(task.name, choices);
  // A wrong name should be said now, not in an hour.
  const Config config =
      choices.empty() ? config_of(task, base) : config_of_choices(task, base, choices);
  if (choices.empty() && !fs::exists(words.out + "/compare.json")) {
    throw UsageError("compare: needs --vary KEY=A,B or --choice KEY=A to compare something");
  }
  Communicator* ranks = join_ranks();
  outlive_lost_ranks();
  if (ranks && ranks->rank() != 0) return serve_jobs(*ranks);
  claim_folder(words, task, words.config->with_preset(task.name), choices);
  const bool all_ran =
      run_all(plan(words, base, choices, config.seed), words.jobs, ranks ? ranks->size() : 1);
  if (ranks) end_rank_jobs(*ranks);
  const Comparison comparison = read_comparison(words.out, about(words, base, config));
  write_text(words.out + "/comparison.json", json_text(comparison.page) + "\n");
  const std::string report = words.out + "/report.html";
  write_text(report, comparison_page(comparison.page));
  if (!comparison.best_run.empty()) link_best(words.out, comparison.best_run);
  if (!all_ran) {
    fmt::print(stderr, "fovea: interrupted; the same command again goes on\n");
    return 130;
  }
  const bool failed =
      std::ranges::any_of(comparison.choices, [](const auto& c) { return !c.failed.empty(); });
  if (words.json) {
    fmt::print("{}\n", json_text(comparison.page));
    return failed;
  }
  fmt::print("{}, {}, {}\n\n", comparison.page["title"].get<std::string>(),
             comparison.page["budget"].get<std::string>(), seeds_in_words(comparison));
  print_table(comparison);
  print_heat_map(comparison);
  fmt::print("\nReport: {}\n", fs::absolute(report).lexically_normal().string());
  if (!comparison.best_run.empty()) {
    const bool chosen = comparison.choices[0].seeds.size() > 1;
    fmt::print("Best:   {0}/{1}\n        {2}also {0}/best\n", words.out, comparison.best_run,
               chosen ? "of its seeds the best in validation; " : "");
  }
  return failed;
}

}  // namespace

void add_compare(CLI::App& app, const Words& all, int& exit_code) {
  auto* verb = app.add_subcommand("compare", "Train several choices under one budget and compare");
  auto words = std::make_shared<CompareWords>();
  add_task(*verb, words->task);
  verb->add_option("--vary", words->vary, "An option and its values; all combinations are tried")
      ->type_name("KEY=A,B");
  verb->add_option("--choice", words->choices, "One more choice, as one or several settings")
      ->type_name("KEY=A,KEY=B");
  verb->add_option("--seeds", words->seeds,
                   "Runs of each choice, with seeds 0, 1, ... or from --seed on")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--out", words->out, "Folder of the runs and the report")->required();
  verb->add_option("--jobs", words->jobs, "Runs at a time; 0: one for each thread")
      ->check(CLI::Range(0, 1000));
  verb->add_option("--maps", words->maps, "Examples whose attention the report shows")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  verb->add_flag("--json", words->json, "Print the result as JSON");
  words->config = std::make_unique<ConfigWords>(*verb, all);
  verb->callback([words, &exit_code] { exit_code = compare(*words); });
}

}  // namespace fovea::cli
