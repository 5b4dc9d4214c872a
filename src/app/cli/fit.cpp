// fovea fit FILE...: the best model that the time allows, and how good it is.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/app/cli/interrupt.h"
#include "fovea/app/cli/rank_jobs.h"
#include "fovea/app/cli/ranks.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"
#include "fovea/task/fit/report.h"

namespace fovea::cli {
namespace {

namespace fs = std::filesystem;

struct FitWords {
  FitAsked asked;
  std::string out = "model", time = "5m", vectors, plan, seed;
  std::vector<std::string> set;
  bool resume = false, json = false;
  bool says_time = false;    // not the time that is usual
  std::vector<double> part;  // candidate, steps, last, seconds: one part of a search
};

// Whole trainings of the search, on other ranks and here.
void run_parts(const std::string& folder, const FitPlan& plan, int here,
               const std::vector<SearchPart>& parts, const std::atomic<bool>& stop) {
  std::vector<Job> jobs;
  for (const SearchPart& part : parts) {
    const std::string run = folder + "/runs/" + plan.candidates[part.candidate].name;
    fs::create_directories(run);
    jobs.push_back(
        {{{own_path(), "fit", "--out", folder, "--part",
           fmt::format("{},{},{:d},{}", part.candidate, part.steps, part.last, part.seconds)}},
         run + "/log.txt"});
  }
  run_jobs(
      jobs, here, std::max(1, threads() / here), [](size_t, int) {},
      [](const std::vector<size_t>&) {}, [&stop] { return stop.load(); });
}

void write_text(const std::string& path, const std::string& text) {
  write_file_atomically(path, std::as_bytes(std::span(text)));
}

// One line that is written over itself on a terminal.
class LiveLine {
 public:
  void show(const std::string& line) {
    if (!isatty(STDERR_FILENO)) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(150)) return;
    last_ = now;
    fmt::print(stderr, "\r\x1b[K{}", line.substr(0, static_cast<size_t>(terminal_width()) - 1));
    std::fflush(stderr);
    drawn_ = true;
  }
  void tell(const std::string& line) {
    clear();
    fmt::print(stderr, "{}\n", line);
  }
  void clear() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
    drawn_ = false;
  }

 private:
  std::chrono::steady_clock::time_point last_{};
  bool drawn_ = false;
};

void print_tables(const FitReport& report) {
  fmt::print("\n{:<18} {:>11} {:>28} {:>9} {:>8}\n", "model", "validation",
             words_of(report.metric) + ", test", "size", "steps");
  for (const FitReport::Row& row : report.rows) {
    fmt::print("{:<18} {:>11.4f} {:>28} {:>9} {:>8}{}\n", row.name, row.validation,
               row.test ? fmt::format("{:.4f} ({:.4f} to {:.4f})", *row.test, row.interval.low,
                                      row.interval.high)
                        : "-",
               short_count(row.parameters), row.baseline ? "-" : with_commas(row.steps),
               row.winner ? "  chosen" : "");
  }
  fmt::print("\n");
  for (const std::string& line : report.verdict) fmt::print("{}\n", line);
}

// The winner's files are the folder's own: predict, attend, eval and compare know it.
void install(const std::string& from, const std::string& to) {
  for (const auto& entry : fs::directory_iterator(from)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "config.json" || name == "state.safetensors" ||
        name == "eval.json") {
      continue;
    }
    fs::copy_file(entry.path(), to + "/" + name, fs::copy_options::overwrite_existing);
  }
  fs::copy_file(from + "/config.json", to + "/config.json", fs::copy_options::overwrite_existing);
}

// Weights of those that were not chosen only take space.
void tidy(const SearchResult& result) {
  for (const Tried& tried : result.tried) {
    std::error_code ignored;
    fs::remove(tried.folder + "/state.safetensors", ignored);
    if (&tried == &result.tried[result.winner] || tried.baseline) continue;
    fs::remove(tried.folder + "/model.safetensors", ignored);
  }
}

// A search reads its data again and again, and stdin comes once.
std::string keep_stdin(const std::string& folder) {
  const int first = std::getc(stdin);
  check<ErrorKind::input>(first != EOF, "stdin: is empty; nothing can be learned from it");
  std::ungetc(first, stdin);
  make_folder(folder);
  const std::string path = folder + "/stdin.txt";
  std::ofstream file(path, std::ios::binary);
  std::array<char, 1 << 16> part{};
  while (const size_t n = std::fread(part.data(), 1, part.size(), stdin)) {
    file.write(part.data(), static_cast<std::streamsize>(n));
  }
  file.close();
  check<ErrorKind::io>(!file.fail() && !std::ferror(stdin), path, ": stdin cannot be kept there");
  return path;
}

// With stdin as a file that is there for --resume and eval too.
FitAsked without_stdin(FitAsked asked, const std::string& folder, LiveLine& line) {
  std::vector<std::string*> places;
  for (std::string& file : asked.files) places.push_back(&file);
  places.push_back(&asked.dev);
  places.push_back(&asked.test);
  std::erase_if(places, [](const std::string* place) { return *place != "-"; });
  check(places.size() <= 1, "fit: stdin can be one of the files only, and - is given ",
        places.size(), " times");
  if (places.empty()) return asked;
  *places[0] = keep_stdin(folder);
  line.tell("stdin: kept as " + *places[0]);
  return asked;
}

// A search that goes on, or is done again, goes by its plan's time; one that goes on may be given
// more.
void take_time(const FitWords& words, FitPlan& plan, bool goes_on, LiveLine& line) {
  if (!words.says_time || (goes_on && seconds_of(words.time) == plan.seconds)) return;
  if (goes_on && seconds_of(words.time) > plan.seconds) {
    line.tell(fmt::format("time: {} in the place of {:.0f} s, {:.0f} of them are used", words.time,
                          plan.seconds, plan.used));
    plan.seconds = seconds_of(words.time);
    return;
  }
  line.tell(goes_on ? fmt::format("time: the plan's {:.0f} s count, {:.0f} of them are used; "
                                  "--time {} does not count, as it is less",
                                  plan.seconds, plan.used, words.time)
                    : fmt::format("time: a plan is done without a clock; --time {} does not count",
                                  words.time));
}

// Whether the folder's model is the best of a search that was stopped, and that is to go on.
bool goes_on_after_stop(const FitWords& words) {
  const std::string kept = words.out + "/plan.json";
  return words.resume && fs::exists(kept) && FitPlan::load(kept).stopped;
}

// What was said for all models goes before what suits one.
void take_said(const Settings& said, Settings& settings) {
  for (const auto& [name, text] : said) {
    if (settings.has(name) && name != "model") settings.set(name, text);
  }
}

struct Prepared {
  FitData data;
  Audit audit;
  FitPlan plan;
};

Prepared prepare(const FitWords& words, const Settings& said, LiveLine& line) {
  Prepared made;
  const std::string kept = words.out + "/plan.json";
  const bool goes_on = words.resume && fs::exists(kept);
  if (!words.plan.empty() || goes_on) {
    made.plan = FitPlan::load(goes_on ? kept : words.plan);
    made.data.task = made.plan.task;
    made.data.settings = made.plan.data;
    made.data.because.push_back(goes_on ? "goes on from " + kept : "by the plan " + words.plan);
    take_time(words, made.plan, goes_on, line);
  } else {
    FitAsked asked = without_stdin(words.asked, words.out, line);
    asked.set = said;
    made.data = infer_data(asked);
  }
  for (const std::string& reason : made.data.because) line.tell(reason);
  const Task& task = find_task(made.data.task);
  made.audit = audit_data(make_config(task, made.data.settings));
  for (const std::string& fact : made.audit.facts) line.tell(fact);
  for (const Audit::Finding& finding : made.audit.findings) {
    line.tell("note: " + finding.what +
              (finding.shown.empty() ? "" : " (as " + finding.shown[0] + ")"));
  }
  if (!made.plan.task.empty()) return made;
  made.plan.task = made.data.task;
  made.plan.data = made.data.settings;
  made.plan.seconds = seconds_of(words.time);
  const int64_t trained = worth_training(made.plan.seconds, made.audit);
  for (Candidate& one : candidates(made.audit, {made.data.task, words.vectors, trained})) {
    take_said(said, one.settings);
    PlannedCandidate planned;
    static_cast<Candidate&>(planned) = std::move(one);
    made.plan.candidates.push_back(std::move(planned));
  }
  const auto takes_vectors = [](const PlannedCandidate& one) {
    return one.settings.has("vectors");
  };
  if (!words.vectors.empty() && std::ranges::none_of(made.plan.candidates, takes_vectors)) {
    line.tell("vectors: no model that is tried for " + made.data.task + " takes any; not used");
  }
  return made;
}

int fit(const FitWords& words, const Words& all) {
  const auto start = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  check(!words.out.empty(), "fit: needs --out DIR to keep the model in");
  if (!words.part.empty()) {
    search_part(words.out,
                {static_cast<size_t>(words.part[0]), static_cast<int64_t>(words.part[1]),
                 words.part[2] != 0, words.part[3]},
                &watch_for_interrupt());
    return 0;
  }
  Communicator* ranks = join_ranks();
  outlive_lost_ranks();
  if (ranks && ranks->rank() != 0) return serve_jobs(*ranks);
  check(!fs::exists(words.out + "/config.json") || goes_on_after_stop(words), words.out,
        ": already holds a model; give another --out");
  check(words.resume || !fs::exists(words.out + "/plan.json"), words.out,
        ": holds a search that has not ended; give --resume to go on with it, or another --out");
  Settings said;
  for (const std::string& one : words.set) {
    const auto at = one.find('=');
    check(at != std::string::npos, "--set: needs NAME=VALUE, got '", one, "'");
    said.set(one.substr(0, at), one.substr(at + 1));
  }
  if (!words.seed.empty()) said.set("seed", words.seed);
  const std::atomic<bool>& stop = watch_for_interrupt();
  LiveLine line;
  Prepared made = prepare(words, said, line);
  make_folder(words.out);
  made.plan.save(words.out + "/plan.json");
  SearchCall call;
  call.folder = words.out;
  call.by_plan = !words.plan.empty();
  call.began = since() + (words.resume ? made.plan.used : 0);
  call.test_validations = static_cast<double>(made.audit.tests) /
                          std::clamp<double>(static_cast<double>(made.audit.validations), 1, 1000);
  call.validations = made.audit.validations;
  call.stop = &stop;
  call.tell = [&](const std::string& text) { line.tell(text); };
  call.show = [&](const std::string& text) { line.show(text); };
  if (ranks) {
    call.workers = ranks->size();
    call.elsewhere = [&](const std::vector<SearchPart>& parts) {
      run_parts(words.out, made.plan, 1, parts, stop);
    };
  }
  const SearchResult result = [&] {
    try {
      return search(made.plan, call);
    } catch (const Error&) {
      // A plan of which nothing was done would only stand in the way of the next try.
      std::error_code ignored;
      if (!words.resume && !fs::exists(words.out + "/runs")) {
        fs::remove(words.out + "/plan.json", ignored);
        fs::remove(words.out, ignored);  // where nothing else is in it
      }
      throw;
    }
  }();
  if (ranks) end_rank_jobs(*ranks);
  line.clear();
  const FitReport report = report_of(made.plan, result);
  std::string command = "fovea";
  for (const std::string& word : all) command += " " + word;
  const nlohmann::json about{
      {"command", command},
      {"version", FOVEA_VERSION},
      {"machine", fmt::format("{} threads, {}", threads(), kernel::simd_target())}};
  write_text(words.out + "/report.html",
             fit_page(words.out, made.plan, made.data, made.audit, report, result, about));
  write_text(words.out + "/README.md", model_card(made.plan, made.data, made.audit, report));
  const std::string chosen = result.tried[result.winner].folder;
  install(chosen, words.out);
  if (!result.stopped) tidy(result);  // else they are there for --resume
  if (words.json) {
    nlohmann::json json{{"task", made.plan.task},
                        {"chosen", report.rows[0].name},
                        {"metric", report.metric},
                        {"seconds", since()},
                        {"rows", nlohmann::json::array()}};
    for (const FitReport::Row& row : report.rows) {
      json["rows"].push_back(
          {{"name", row.name},
           {"validation", row.validation},
           {"test", row.test ? nlohmann::json(*row.test) : nlohmann::json()},
           {"error", row.error ? nlohmann::json(*row.error) : nlohmann::json()},
           {"interval",
            row.test ? nlohmann::json{row.interval.low, row.interval.high} : nlohmann::json()},
           {"baseline", row.baseline},
           {"seconds", row.seconds}});
    }
    fmt::print("{}\n", json_text(json));
  } else {
    print_tables(report);
    fmt::print(
        "\n{:.0f} s. The model is in {}: fovea predict {}; its card is README.md, the page "
        "report.html\n",
        since(), words.out, words.out);
  }
  if (result.stopped) {
    fmt::print(stderr, "fovea: interrupted; this is the best so far, and --resume goes on\n");
  }
  return result.stopped ? 130 : 0;
}

}  // namespace

void add_fit(CLI::App& app, const Words& all, int& exit_code) {
  auto* verb = app.add_subcommand("fit", "Find the best model for a file that the time allows");
  auto words = std::make_shared<FitWords>();
  verb->add_option(
      "file", words->asked.files,
      "Files of examples, or - (stdin); train, dev and test in their names tell the parts");
  auto* time = verb->add_option("--time", words->time, "All the time it may take: 90s, 5m, 2h")
                   ->capture_default_str();
  verb->add_option("--out", words->out, "Folder to keep the model in")->capture_default_str();
  verb->add_option("--task", words->asked.task, "The task, where the file does not tell");
  verb->add_option("--columns", words->asked.columns,
                   "Which columns are meant: label=category,text=review");
  verb->add_option("--dev", words->asked.dev, "File to validate on");
  verb->add_option("--test", words->asked.test, "File to test on");
  verb->add_option("--vectors", words->vectors, "Word vectors, as word2vec and GloVe write them");
  verb->add_option("--seed", words->seed, "Of first values, order and dropout (0)");
  verb->add_option("--set", words->set, "NAME=VALUE: an option that all models get");
  verb->add_option("--plan", words->plan, "Search again as this plan.json says, without a clock");
  verb->add_flag("--resume", words->resume, "Go on with the search that is in --out");
  verb->add_flag("--json", words->json, "Print the result as JSON");
  verb->add_option("--part", words->part,
                   "What ranks start each other with: candidate,steps,last,seconds of one training")
      ->delimiter(',')
      ->expected(4)
      ->type_name("NUMBERS")
      ->group("Ranks");
  verb->callback([words, time, &all, &exit_code] {
    words->says_time = time->count() > 0;
    exit_code = fit(*words, all);
  });
}

}  // namespace fovea::cli
