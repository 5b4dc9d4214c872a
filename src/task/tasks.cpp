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

const std::vector<Task>& tasks() {
  static const std::vector<Task> all{
      {"translate",
       "From one sequence to another: n tokens to m",
       "lines of source<TAB>target, or two parallel files",
       {{"dates",
         "dates as people write them, to ISO; the alignment is known",
         {{"tokens", "chars"}, {"embed", "64"}, {"width", "128"}, {"rate", "0.003"}}},
        {"reverse", "letters and words, backwards", {{"embed", "64"}, {"width", "128"}}}},
       {{"tokens", "words"}, {"rate", "0.001"}},
       {{"time", "60s"}},
       make_translate},
      {"label",
       "A label for every token",
       "CoNLL columns or CoNLL-U",
       {{"tags", "sentences of a small grammar with parts of speech"}},
       {{"tokens", "spaces"}, {"score", "none"}, {"dropout", "0.3"}, {"batch", "32"}},
       {{"time", "60s"}},
       make_label},
      {"classify",
       "One label for a text",
       "lines of label<TAB>text, or CSV",
       {{"sentiment", "opinions, with negation"}},
       {{"tokens", "words"}, {"score", "self_attentive"}, {"dropout", "0.3"}, {"width", "128"}},
       {{"time", "60s"}},
       make_classify},
      {"lm",
       "What comes next: a language model",
       "a text file",
       {{"dates", "dates as people write them, one a line"}},
       {{"tokens", "chars"},
        {"model", "transformer"},
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
       {{"time", "60s"}},
       make_lm},
      {"mlm",
       "Words hidden in a text: a masked language model",
       "a text file, a sentence a line",
       {{"tags", "sentences of a small grammar"}, {"sentiment", "opinions"}},
       {{"tokens", "words"},
        {"model", "transformer"},
        {"batch", "64"},
        {"layers", "2"},
        {"width", "128"},
        {"dropout", "0.1"},
        {"rate", "0.001"},
        {"schedule", "cosine"},
        {"warmup", "100"},
        {"optimizer", "adamw"},
        {"weight_decay", "0.01"}},
       {{"time", "60s"}},
       make_mlm},
      {"regress",
       "A number from numbers, by kernel pooling",
       "CSV of numbers, the target last",
       {{"sine", "2 sin x + x with noise"}},
       {{"score", "kernel"},
        {"rate", "0.03"},
        {"clip", "0"},
        {"validate_every", "50"},
        {"test_part", "0.25"}},
       {{"steps", "300"}},
       make_regress},
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

Config make_config(const Task& task, const Settings& settings) {
  Config config;
  config.task = task.name;
  const auto apply = [&](const Settings& list) {
    for (const auto& [name, value] : list) config_fields().set(config, name, value);
  };
  apply(task.defaults);
  apply(settings);
  if (config.model == "transformer") {  // what suits an rnn does not suit it
    apply({{"score", "scaled"}, {"summary", "mean"}});
    apply(settings);
  }
  if (constexpr std::string_view builtin = "builtin:"; config.data.starts_with(builtin)) {
    apply(find_builtin(task, config.data.substr(builtin.size())).settings);
    apply(settings);
  }
  if (config.time.empty() && config.steps == 0 && config.epochs == 0) apply(task.budget);
  return config;
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
      {"format", "fovea 1"}, {"task", config.task}, {"options", to_json(config)}};
  const std::string text = json.dump(2) + "\n";
  write_file_atomically(config_path(folder), std::as_bytes(std::span(text)));
}

Config load_config(const std::string& folder) {
  const std::string path = config_path(folder);
  std::ifstream file(path);
  check(file.good(), folder, ": is not the folder of a trained model: it has no config.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  check(json.is_object() && json.value("format", "") == "fovea 1" && json.contains("task") &&
            json.contains("options") && json["task"].is_string(),
        path, ": is not the configuration of a Fovea model");
  Config config;
  config.task = find_task(json["task"].get<std::string>()).name;
  from_json(json["options"], config);
  return config;
}

std::unique_ptr<Solver> open_solver(const std::string& folder, const Settings& settings) {
  Config config = load_config(folder);
  for (const auto& [name, value] : settings) config_fields().set(config, name, value);
  auto solver = find_task(config.task).make(config, Purpose::use, folder);
  load_parameters(folder + "/model.safetensors", solver->parameters());
  return solver;
}

}  // namespace fovea
