#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/file.h"
#include "fovea/task/make.h"
#include "fovea/task/solver.h"
#include "fovea/train/checkpoint.h"

namespace fovea {

std::vector<Metric> Evaluation::values() const {
  std::vector<Metric> values;
  for (const One& one : metrics) {
    Tally sum;
    for (const Tally& tally : one.tallies) add_to(sum, tally);
    values.push_back(find_metric(one.metric).measure(sum));
  }
  return values;
}

Solver::Solver(const Config& config, Purpose purpose, const std::string& folder)
    : config_(config), parameters_(static_cast<uint64_t>(config.seed)) {
  if (purpose == Purpose::learn) return;
  file_.emplace(folder + "/model.safetensors");
  parameters_ = Parameters(static_cast<uint64_t>(config.seed), Dtype::f32, file_->source());
}

const std::vector<Task>& tasks() {
  // What all tasks read from files, and what those read that have tokens.
  static const std::vector<std::string> files{"data",     "dev",       "test",
                                              "dev_part", "test_part", "examples"};
  const auto with = [](std::vector<std::string> names) {
    names.insert(names.begin(), files.begin(), files.end());
    return names;
  };
  static const std::vector<Task> all{
      {.name = "translate",
       .title = "From one sequence to another: n tokens to m",
       .input = "lines of source<TAB>target, or two parallel files",
       .takes = Takes::text,
       .gives = Gives::tokens,
       .data_options = with(
           {"tokens", "target_tokens", "lowercase", "min_count", "vocabulary", "longest", "bleu"}),
       .answer_options = {"beam", "length_penalty"},
       .builtin = {{"dates",
                    "dates as people write them, to ISO; the alignment is known",
                    {{"tokens", "chars"}, {"embed", "64"}, {"width", "128"}, {"rate", "0.003"}}},
                   {"reverse",
                    "letters and words, backwards",
                    {{"embed", "64"}, {"width", "128"}}}},
       .defaults = {{"tokens", "words"}, {"rate", "0.001"}},
       .budget = {{"time", "60s"}},
       .make = make_translate},
      {.name = "label",
       .title = "A label for every token",
       .input = "CoNLL columns or CoNLL-U",
       .takes = Takes::text,
       .gives = Gives::labels,
       .data_options = with({"lowercase", "min_count", "vocabulary", "longest", "column"}),
       .answer_options = {},
       .builtin = {{"tags", "sentences of a small grammar with parts of speech"}},
       .defaults = {{"dropout", "0.3"}, {"batch", "32"}},
       .budget = {{"time", "60s"}},
       .make = make_label},
      {.name = "classify",
       .title = "One label for a text",
       .input = "lines of label<TAB>text, or CSV",
       .takes = Takes::text,
       .gives = Gives::label,
       .data_options =
           with({"tokens", "lowercase", "min_count", "vocabulary", "longest", "column"}),
       .answer_options = {},
       .builtin = {{"sentiment", "opinions, with negation"}},
       .defaults = {{"tokens", "words"}, {"dropout", "0.3"}, {"width", "128"}},
       .budget = {{"time", "60s"}},
       .make = make_classify},
      {.name = "lm",
       .title = "What comes next: a language model",
       .input = "a text file",
       .takes = Takes::text,
       .gives = Gives::next,
       .data_options = with({"tokens", "lowercase", "min_count", "vocabulary", "context"}),
       .answer_options = {"length", "temperature", "top_k", "top_p"},
       .builtin = {{"dates", "dates as people write them, one a line"}},
       .defaults = {{"tokens", "chars"},
                    {"batch", "32"},
                    {"dropout", "0"},
                    {"rate", "0.001"},
                    {"weight_decay", "0.1"},
                    {"optimizer", "adamw"},
                    {"beta2", "0.99"},
                    {"position", "rotary"},
                    {"schedule", "cosine"},
                    {"floor", "0.1"},
                    {"validate_every", "250"},
                    {"validate_examples", "200"}},
       .budget = {{"time", "60s"}},
       .make = make_lm},
      {.name = "mlm",
       .title = "Words hidden in a text: a masked language model",
       .input = "a text file, a sentence a line",
       .takes = Takes::text,
       .gives = Gives::hidden,
       .data_options = with({"tokens", "lowercase", "min_count", "vocabulary", "longest"}),
       .answer_options = {},
       .builtin = {{"tags", "sentences of a small grammar"}, {"sentiment", "opinions"}},
       .defaults = {{"tokens", "words"},
                    {"batch", "64"},
                    {"layers", "2"},
                    {"width", "128"},
                    {"dropout", "0.1"},
                    {"rate", "0.001"},
                    {"schedule", "cosine"},
                    {"warmup", "100"},
                    {"optimizer", "adamw"},
                    {"weight_decay", "0.01"}},
       .budget = {{"time", "60s"}},
       .make = make_mlm},
      {.name = "regress",
       .title = "A number from numbers",
       .input = "CSV of numbers, the target last",
       .takes = Takes::numbers,
       .gives = Gives::number,
       .data_options = files,
       .answer_options = {},
       .builtin = {{"sine", "2 sin x + x with noise"}},
       .defaults =
           {{"rate", "0.03"}, {"clip", "0"}, {"validate_every", "50"}, {"test_part", "0.25"}},
       .budget = {{"steps", "300"}},
       .make = make_regress},
  };
  return all;
}

const Task& find_task(std::string_view name) {
  std::vector<std::string> known;
  for (const Task& task : tasks()) {
    if (task.name == name) return task;
    known.push_back(task.name);
  }
  fail(unknown_name("task", name, known));
}

const Builtin& find_builtin(const Task& task, std::string_view name) {
  std::vector<std::string> known;
  for (const Builtin& builtin : task.builtin) {
    if (builtin.name == name) return builtin;
    known.push_back(builtin.name);
  }
  fail(unknown_name("built-in data", name, known));
}

namespace {

std::string config_path(const std::string& folder) { return folder + "/config.json"; }

}  // namespace

void save_config(const std::string& folder, const Config& config) {
  std::filesystem::create_directories(folder);
  const nlohmann::ordered_json json{
      {"format", "fovea 2"}, {"task", config.task}, {"options", to_json(config)}};
  const std::string text = json.dump(2) + "\n";
  write_file_atomically(config_path(folder), std::as_bytes(std::span(text)));
}

Config load_config(const std::string& folder) {
  const std::string path = config_path(folder);
  std::ifstream file(path);
  check(file.good(), folder, ": is not the folder of a trained model: it has no config.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const bool is_object = json.is_object() && json.contains("format") && json["format"].is_string();
  check(!is_object || json["format"] != "fovea 1", path,
        ": is of a model that an earlier version made, which this one cannot read; train it again");
  check(is_object && json["format"] == "fovea 2" && json.contains("task") &&
            json.contains("options") && json["task"].is_string(),
        path, ": is not the configuration of a Fovea model");
  try {
    return config_from_json(json["task"].get<std::string>(), json["options"]);
  } catch (const Error& error) {
    fail(path, ": ", error.what());
  }
}

void check_answer_options(const Config& config, const Settings& settings) {
  const Task& task = find_task(config.task);
  for (const auto& [name, text] : settings) {
    std::string names;
    for (const std::string& one : task.answer_options) names += (names.empty() ? "" : ", ") + one;
    check(std::ranges::find(task.answer_options, name) != task.answer_options.end(), "option '",
          name, "' says nothing about the answers of ", task.name,
          names.empty() ? "" : "; these do: ", names);
  }
  changed(config, settings);
}

std::unique_ptr<Solver> open_solver(const std::string& folder, const Settings& settings) {
  const Config config = load_config(folder);
  check_answer_options(config, settings);
  return find_task(config.task).make(changed(config, settings), Purpose::use, folder);
}

}  // namespace fovea
