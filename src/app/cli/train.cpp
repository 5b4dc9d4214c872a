// fovea train TASK: learns from a file of examples, or from built-in data.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "fovea/app/cli/verbs.h"
#include "fovea/base/names.h"
#include "fovea/task/regress.h"

namespace fovea::cli {
namespace {

struct TrainWords {
  std::string task, data = "builtin:sine";
  RegressOptions options;
  bool json = false;
};

NumberTable load(const TrainWords& words) {
  const std::vector<std::string> builtin{"builtin:sine"};
  if (words.data == builtin[0]) return generate_sine(200, words.options.seed);
  if (words.data.starts_with("builtin:")) {
    throw UsageError(unknown_name("data", words.data, builtin));
  }
  return read_csv(words.data);
}

void train(const TrainWords& words) {
  const std::vector<std::string> tasks{"regress"};
  if (words.task != tasks[0]) throw UsageError(unknown_name("task", words.task, tasks));
  const NumberTable table = load(words);
  const bool terminal = isatty(STDERR_FILENO);
  const int64_t steps = words.options.steps;
  const auto result = train_regress(table, words.options, [&](int64_t step, double loss) {
    const bool last = step == steps;
    if (terminal) {
      fmt::print(stderr, "\rstep {:>{}} of {}   loss {:.5f}{}", step, std::to_string(steps).size(),
                 steps, loss, last ? "\n" : "");
    } else if (last || step % std::max<int64_t>(1, steps / 10) == 0) {
      fmt::print(stderr, "step {} of {}, loss {:.5f}\n", step, steps, loss);
    }
  });
  if (words.json) {
    fmt::print("{}\n", nlohmann::json{{"task", "regress"},
                                      {"data", words.data},
                                      {"training_rows", result.training_rows},
                                      {"held_out_rows", result.held_out_rows},
                                      {"rmse_mean", result.rmse_mean},
                                      {"rmse_given", result.rmse_given},
                                      {"rmse_learned", result.rmse_learned},
                                      {"w", result.w}}
                           .dump());
    return;
  }
  fmt::print("Kernel pooling on {}: {} rows to learn from, {} held out\n\n", words.data,
             result.training_rows, result.held_out_rows);
  fmt::print("  {:<44}{:>8}\n", "model", "RMSE");
  fmt::print("  {:<44}{:>8.4f}\n", "mean of the training targets", result.rmse_mean);
  fmt::print("  {:<44}{:>8.4f}\n", "kernel pooling, width given (w = 1)", result.rmse_given);
  fmt::print("  {:<44}{:>8.4f}\n", "kernel pooling, width learned", result.rmse_learned);
}

}  // namespace

void add_train(CLI::App& app) {
  auto* verb = app.add_subcommand("train", "Learn from a file of examples, or from built-in data");
  auto words = std::make_shared<TrainWords>();
  verb->add_option("task", words->task, "What to learn: regress")->required();
  verb->add_option("--data", words->data, "A CSV file whose last column is the target")
      ->capture_default_str();
  verb->add_option("--steps", words->options.steps, "Steps of training")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  verb->add_option("--rate", words->options.rate, "Learning rate")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--seed", words->options.seed, "Seed of the split and the first values")
      ->capture_default_str();
  verb->add_flag("--json", words->json, "Print the result as JSON");
  verb->callback([words] { train(*words); });
}

}  // namespace fovea::cli
