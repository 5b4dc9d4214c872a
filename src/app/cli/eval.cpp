// fovea eval DIR: the task's own metrics on examples that the model has not seen.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/file.h"
#include "fovea/report/heat_map_json.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct EvalWords {
  std::optional<ConfigWords> answers;
  std::string folder, data = "test", details;
  int64_t maps = 0;
  bool json = false;
};

// All there is to know: what a comparison is made from.
nlohmann::json details_of(Solver& solver, const Evaluation& e, int64_t maps) {
  nlohmann::json json{{"seconds", e.seconds},
                      {"inputs", e.inputs},
                      {"truths", e.truths},
                      {"outputs", e.outputs},
                      {"drawings", nlohmann::json::array()}};
  for (const auto& one : e.metrics) json["tallies"][one.metric] = one.tallies;
  for (const Metric& m : e.values())
    json["metrics"].push_back({{"name", m.name}, {"value", m.value}});
  for (size_t i = 0; i < std::min<size_t>(maps, e.inputs.size()); ++i) {
    json["drawings"].push_back(to_json(solver.attend(e.inputs[i])));
  }
  return json;
}

void eval(const EvalWords& words) {
  auto solver = open_solver(words.folder, words.answers->settings());
  const Evaluation evaluation = solver->evaluate(words.data);
  if (!words.details.empty()) {
    // Texts of users may hold anything that is UTF-8; what is not was refused when it was read.
    const std::string text = details_of(*solver, evaluation, words.maps).dump() + "\n";
    write_file_atomically(words.details, std::as_bytes(std::span(text)));
  }
  if (words.json) {
    nlohmann::json json{{"examples", evaluation.inputs.size()}, {"seconds", evaluation.seconds}};
    for (const Metric& m : evaluation.values()) json["metrics"][m.name] = m.value;
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{} on {} examples of {}\n\n", words.folder, with_commas(evaluation.inputs.size()),
             words.data);
  print_metrics(evaluation.values());
}

}  // namespace

void add_eval(CLI::App& app) {
  auto* verb = app.add_subcommand("eval", "Measure a trained model");
  auto words = std::make_shared<EvalWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_option("--data", words->data, "test, dev, or a file of the task's format")
      ->capture_default_str();
  verb->add_option("--details", words->details,
                   "Write answers and what every example counts to this JSON file");
  verb->add_option("--maps", words->maps, "With --details: attention maps of so many examples")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--json", words->json, "Print the metrics as JSON");
  words->answers = ConfigWords::of_answers(*verb);
  verb->callback([words] { eval(*words); });
}

}  // namespace fovea::cli
