// fovea score DIR FILE: what a model makes of texts that it did not write.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/json_text.h"
#include "fovea/data/text_file.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct ScoreWords {
  std::optional<ConfigWords> answers;
  std::string folder, file;
  bool json = false, tokens = false;
};

double sum(const std::vector<double>& values) {
  double total = 0;
  for (double x : values) total += x;
  return total;
}

// A control character within a token would break the line.
std::string shown(const std::string& token) {
  std::string text;
  for (char c : token) {
    text += c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : std::string(1, c);
  }
  return text;
}

void print_one(const ScoredText& scored, int64_t line, const ScoreWords& words) {
  const double total = sum(scored.log_probability);
  const auto n = static_cast<double>(scored.tokens.size());
  if (words.json) {
    nlohmann::ordered_json json{{"line", line},
                                {"log_probability", total},
                                {"perplexity", std::exp(-total / n)},
                                {"tokens", nlohmann::ordered_json::array()}};
    for (size_t i = 0; i < scored.tokens.size(); ++i) {
      json["tokens"].push_back(
          {{"token", scored.tokens[i]}, {"log_probability", scored.log_probability[i]}});
    }
    fmt::print("{}\n", json_text(json));
  } else if (words.tokens) {
    for (size_t i = 0; i < scored.tokens.size(); ++i) {
      fmt::print("{}\t{}\t{:.6g}\n", line, shown(scored.tokens[i]), scored.log_probability[i]);
    }
  } else {
    fmt::print("{:.6g}\t{}\t{:.6g}\n", total, scored.tokens.size(), std::exp(-total / n));
  }
}

int score(const ScoreWords& words) {
  auto solver = solver_of(model_folder(words.folder), *words.answers);
  solver->score({});  // said once where the task scores nothing
  const std::vector<std::string> lines = read_lines(words.file);
  double total = 0;
  int64_t tokens = 0, number = 0, failed = 0;
  for (const std::string& line : lines) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    ScoredText scored;
    try {
      scored = solver->score({line}).at(0);
    } catch (const Error& error) {  // costs no other line what it scores
      fmt::print(stderr, "fovea: {}:{}: {}\n", words.file, number, error.what());
      ++failed;
      continue;
    }
    print_one(scored, number, words);
    total += sum(scored.log_probability);
    tokens += static_cast<int64_t>(scored.tokens.size());
  }
  check(tokens > 0 || failed > 0, words.file, ": has no text to score");
  flush_stdout();
  if (tokens > 0) {
    fmt::print(stderr,
               "{} tokens, log-probability {:.6g}, {:.4g} nats a token, perplexity {:.6g}\n",
               with_commas(tokens), total, -total / static_cast<double>(tokens),
               std::exp(-total / static_cast<double>(tokens)));
  }
  if (failed == 0) return 0;
  fmt::print(stderr, "fovea: {} line{} could not be scored\n", failed, failed == 1 ? "" : "s");
  return 1;
}

}  // namespace

void add_score(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("score", "What a model makes of given texts, token by token");
  auto words = std::make_shared<ScoreWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_option("file", words->file,
                   "A text a line, or an input, a tab and its answer; of each line is printed: "
                   "log-probability, tokens, perplexity")
      ->required();
  verb->add_flag("--tokens", words->tokens, "A line a token: line, token, log-probability");
  verb->add_flag("--json", words->json, "An object a line, with its tokens");
  words->answers = ConfigWords::of_answers(*verb);
  verb->callback([words, &exit_code] { exit_code = score(*words); });
}

}  // namespace fovea::cli
