// fovea train TASK: learns from a file of examples, or from built-in data.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/app/bench/race.h"
#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/interrupt.h"
#include "fovea/app/cli/ranks.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/base/parallel.h"
#include "fovea/task/fit/suited.h"
#include "fovea/train/checkpoint.h"

namespace fovea::cli {
namespace {

namespace fs = std::filesystem;

struct TrainWords {
  std::string task, out;
  std::unique_ptr<ConfigWords> config;
  bool resume = false, json = false, usual = false;
};

// Shards of a run that several processes begin and that was told no number: enough for eight, so
// that others can go on with it.
constexpr int least_shards = 8;

// A new run, or one that goes on: its folder's config, of which little may change.
Config config_for(const TrainWords& words, const Task& task, bool goes_on, Communicator* ranks) {
  Settings said = words.config->settings(task.name);
  if (!goes_on) {
    if (ranks && !said.has("shards") && said.get("sequence_parallel") != "true") {
      said.set("shards", std::to_string(std::max(least_shards, ranks->size())));
    }
    said = with_inferred(task, said);
    if (words.usual) return config_of(task, said);
    const Suited suited = suited_to_data(task, said);
    if (!suited.why.empty() && (!ranks || ranks->rank() == 0)) {
      fmt::print(stderr, "{}\n", suited.why);
    }
    return config_of(task, suited.settings);
  }
  const Config config = load_config(words.out);
  check(config.task == task.name, words.out, ": holds a model of the task ", config.task, ", not ",
        task.name);
  const std::vector<std::string>& may = resumable_options();
  for (const auto& [name, text] : said) {
    if (config.settings.get(name) == text) continue;
    std::string names;
    for (const std::string& one : may) names += (names.empty() ? "" : ", ") + one;
    check(std::ranges::find(may, name) != may.end(), words.out, ": was begun with ", name, " '",
          config.settings.get(name), "', and a run that goes on cannot take '", text,
          "'; it may change ", names, ". For another model give another --out");
  }
  return changed(config, said);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", std::localtime(&now));
  return text;
}

nlohmann::json summary_of(const Config& config, const TrainResult& result, int64_t parameters,
                          const std::vector<Metric>& test) {
  nlohmann::json json{{"task", config.task},
                      {"data", config.data},
                      {"stopped", result.stopped},
                      {"steps", result.steps},
                      {"epochs", result.epochs},
                      {"best_step", result.best_step},
                      {"seconds", result.seconds},
                      {"step_ms", result.step_seconds * 1e3},
                      {"peak_mb", bench::peak_megabytes()},
                      {"ended", today()},
                      {"parameters", parameters}};
  if (result.best) json["validation"][result.best->name] = result.best->value;
  for (const Metric& m : test) json["test"][m.name] = m.value;
  return json;
}

// Whether there is a run in the folder, as the first rank sees it.
bool is_there(const TrainWords& words, Communicator* ranks) {
  bool there = !words.out.empty() && fs::exists(words.out + "/config.json");
  if (ranks) there = broadcast_value(*ranks, there);
  check(!there || words.resume, words.out,
        ": already holds a model; give --resume to go on with it, or another --out");
  return there;
}

std::string go_on_words(const TrainWords& words, const std::string& task) {
  return say("fovea train ", task, " --out ", words.out, " --resume");
}

// What every rank but the first does.
int train_along(const TrainWords& words, const Config& config, bool there, Communicator& ranks) {
  watch_for_interrupt();  // it is the first rank's to save and stop
  const auto solver = begin_run(config, there ? words.out : "", there);
  fovea::train(*solver, {.options = config, .folder = words.out, .resume = there, .ranks = &ranks});
  return 0;
}

int train(const TrainWords& words) {
  const Task& task = task_named(words.task);
  words.config->settings(task.name);  // what is wrong with the words is said before all else
  Communicator* ranks = join_ranks();
  const bool there = is_there(words, ranks);
  const Config config = config_for(words, task, there, ranks);
  say_when_lost(words.out.empty() ? "; nothing was kept, as there was no --out"
                                  : "; the last good state is in " + words.out + ", and " +
                                        go_on_words(words, task.name) +
                                        " goes on from it on any number of ranks");
  if (ranks && ranks->rank() != 0) return train_along(words, config, there, *ranks);
  const auto solver = begin_run(config, words.out, there);
  print_notes(*solver);
  if (ranks) {
    fmt::print(stderr, "{} ranks, {} thread{} each; {} shards a batch\n", ranks->size(), threads(),
               threads() == 1 ? "" : "s", config.sequence_parallel ? 1 : config.shards);
  }
  fmt::print(stderr, "{}: {}; {} parameters\n", config.data, solver->summary(),
             with_commas(solver->parameters().count()));
  const DataReport report = solver->data_report();
  for (const std::string& line : lines_of(report)) fmt::print(stderr, "{}\n", line);
  if (!words.out.empty() && !there) {
    const std::string text = json_text(to_json(report), 2) + "\n";
    write_file_atomically(words.out + "/data.json", std::as_bytes(std::span(text)));
  }
  ProgressBar bar;
  const TrainResult result = fovea::train(*solver, {.options = config,
                                                    .folder = words.out,
                                                    .resume = there,
                                                    .progress = std::ref(bar),
                                                    .stop = &watch_for_interrupt(),
                                                    .ranks = ranks});
  bar.finish();
  if (there) {  // what has changed held
    Config kept = config;
    kept.learned = load_config(words.out).learned;
    save_config(words.out, kept);
  }
  if (there && result.first_step == result.steps && result.stopped != "interrupted") {
    fmt::print(stderr,
               "fovea: nothing was left to do: the run has had its {} already; a longer --time, or "
               "more --steps or --epochs, goes on\n",
               result.stopped);
  }
  if (result.stopped == "interrupted") {
    if (words.out.empty()) {
      fmt::print(stderr, "fovea: interrupted at step {}; nothing was kept, as there was no --out\n",
                 result.steps);
    } else {
      fmt::print(stderr, "fovea: interrupted at step {}; to go on: {}\n", result.steps,
                 go_on_words(words, task.name));
    }
    return 130;
  }
  if (!words.out.empty()) load_parameters(words.out + "/model.safetensors", solver->parameters());
  const Evaluation evaluation = solver->evaluate("test");
  const std::vector<Metric> test = evaluation.values();
  auto summary = summary_of(config, result, solver->parameters().count(), test);
  if (ranks) summary["ranks"] = ranks->size(), summary["wait_ms"] = result.wait_seconds * 1e3;
  const ClassReport classes = class_report(evaluation.items);
  if (!classes.classes.empty()) summary["by_class"] = to_json(classes);
  if (!words.out.empty()) {
    const std::string text = json_text(summary, 2) + "\n";
    write_file_atomically(words.out + "/summary.json", std::as_bytes(std::span(text)));
  }
  if (words.json) {
    fmt::print("{}\n", json_text(summary));
    return 0;
  }
  fmt::print("{} on {}: {} steps in {} (stopped by {}), best at step {}\n\n", task.name,
             config.data, with_commas(result.steps), clock_text(result.seconds), result.stopped,
             with_commas(result.best_step));
  fmt::print("On examples it has not seen:\n");
  print_metrics(test);
  if (!classes.classes.empty()) fmt::print("\n{}", text_of(classes, terminal_width()));
  if (words.out.empty()) {
    fmt::print(stderr, "\nThe model was not kept: give --out DIR for that.\n");
  } else {
    fmt::print("\nThe model is in {0}: fovea predict {0}, fovea attend {0} TEXT\n", words.out);
  }
  return 0;
}

}  // namespace

void add_train(CLI::App& app, const Words& all, int& exit_code) {
  auto* verb = app.add_subcommand("train", "Learn from a file of examples, or from built-in data");
  auto words = std::make_shared<TrainWords>();
  add_task(*verb, words->task);
  verb->add_option("--out", words->out, "Folder to keep the model in");
  verb->add_flag("--resume", words->resume, "Go on with the run that is in --out, if there is one");
  verb->add_flag("--json", words->json, "Print the result as JSON");
  verb->add_flag("--no-suit", words->usual, "Take the usual defaults, not what suits the data");
  words->config = std::make_unique<ConfigWords>(*verb, all);
  verb->callback([words, &exit_code] { exit_code = train(*words); });
}

}  // namespace fovea::cli
