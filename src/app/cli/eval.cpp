// fovea eval DIR: the task's own metrics on examples that the model has not seen.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/base/json_text.h"
#include "fovea/report/heat_map_json.h"
#include "fovea/task/latency.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct EvalWords {
  std::optional<ConfigWords> answers;
  std::string folder, data = "test", details;
  int64_t maps = 0;
  bool json = false;
};

Latency latency_of(Solver& solver, const Evaluation& e) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  return measure_latency(
      e.inputs, [&](const std::string& input) { solver.predict({solver.question(input)}); }, now);
}

// How fast it answers, one at a time and many at once.
nlohmann::json speed_of(const Evaluation& e, const Latency& latency) {
  const auto known = [&](double ms) { return latency.examples > 0 ? nlohmann::json(ms) : nullptr; };
  return {
      {"seconds", e.seconds},
      {"examples_per_second",
       e.seconds > 0 ? nlohmann::json(static_cast<double>(e.inputs.size()) / e.seconds) : nullptr},
      {"example_ms", known(latency.median_ms)},
      {"example_ms_95", known(latency.slow_ms)},
      {"timed_examples", latency.examples}};
}

// Where it looks; an example that cannot be shown, as one that is too long, costs no measurement.
nlohmann::json drawing_of(const Solver& solver, const std::string& input) {
  try {
    return to_json(solver.attend(input));
  } catch (const Error&) {
    return to_json(Drawing{});
  }
}

// All there is to know: what a comparison is made from.
nlohmann::json details_of(Solver& solver, const Evaluation& e, const nlohmann::json& speed,
                          int64_t maps) {
  nlohmann::json json = speed;
  json["inputs"] = e.inputs;
  json["truths"] = e.truths;
  json["outputs"] = e.outputs;
  json["drawings"] = nlohmann::json::array();
  if (!e.items.empty()) json["by_class"] = to_json(class_report(e.items));
  for (const auto& one : e.metrics) json["tallies"][one.metric] = one.tallies;
  for (const Metric& m : e.values())
    json["metrics"].push_back({{"name", m.name}, {"value", m.value}});
  for (size_t i = 0; i < std::min<size_t>(maps, e.inputs.size()); ++i) {
    json["drawings"].push_back(drawing_of(solver, e.inputs[i]));
  }
  return json;
}

void eval(const EvalWords& words) {
  const std::string folder = model_folder(words.folder);
  const bool of_data = words.data == "test" || words.data == "dev";
  for (const auto& [name, text] : words.answers->settings()) {
    if (of_data && std::ranges::find(reading_options(), name) != reading_options().end()) {
      throw UsageError(say("eval: ", name, " says how a file is read; give --data FILE with it"));
    }
  }
  auto solver = solver_of(folder, *words.answers);
  const std::string& learned = solver->config().data;
  const bool own =
      of_data && (words.data == "dev" ? solver->config().dev : solver->config().test).empty();
  if (own && !learned.starts_with("builtin:") && learned.find(',') == std::string::npos &&
      learned != "-" && !learned.empty() && !std::filesystem::exists(learned)) {
    throw Error(say(learned, ", which this model learned from, is not there; name a file to ",
                    "measure on: --data FILE"));
  }
  const Evaluation evaluation = solver->evaluate(words.data);
  if (!of_data) print_notes(*solver);
  const Latency latency = latency_of(*solver, evaluation);
  const nlohmann::json speed = speed_of(evaluation, latency);
  if (!words.details.empty()) {
    const std::string text = json_text(details_of(*solver, evaluation, speed, words.maps)) + "\n";
    write_file_atomically(words.details, std::as_bytes(std::span(text)));
  }
  if (words.json) {
    nlohmann::json json = speed;
    json["examples"] = evaluation.inputs.size();
    for (const Metric& m : evaluation.values()) json["metrics"][m.name] = m.value;
    if (!evaluation.items.empty()) json["by_class"] = to_json(class_report(evaluation.items));
    fmt::print("{}\n", json_text(json));
    return;
  }
  fmt::print("{} on {} examples of {}\n\n", folder, with_commas(evaluation.inputs.size()),
             words.data);
  print_metrics(evaluation.values());
  if (!evaluation.items.empty()) {
    fmt::print("\n{}", text_of(class_report(evaluation.items), terminal_width()));
  }
  fmt::print("\n");
  if (latency.examples > 0) {
    fmt::print("  {:<18}{:>9} ms, 95 % within {} ms ({} timed)\n", "one alone",
               figure_text(latency.median_ms), figure_text(latency.slow_ms), latency.examples);
  }
  if (speed["examples_per_second"].is_number()) {
    fmt::print("  {:<18}{:>9} examples/s\n", "in batches",
               figure_text(speed["examples_per_second"].get<double>()));
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  auto* verb = app.add_subcommand("eval", "Measure a trained model");
  auto words = std::make_shared<EvalWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_option("--data", words->data, "test, dev, a file of the task's format, or - (stdin)")
      ->capture_default_str();
  verb->add_option("--details", words->details,
                   "Write answers and what every example counts to this JSON file");
  verb->add_option("--maps", words->maps, "With --details: attention maps of so many examples")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--json", words->json, "Print the metrics as JSON");
  words->answers = ConfigWords::of_answers(*verb);
  words->answers->add_reading(*verb);
  verb->callback([words] { eval(*words); });
}

}  // namespace fovea::cli
