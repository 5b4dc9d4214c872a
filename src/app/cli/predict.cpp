// fovea predict DIR: stdin to stdout, one line out for each line in, in order.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/base/utf8.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct PredictWords {
  std::optional<ConfigWords> answers;
  std::string folder;
  int64_t nbest = 1;
  uint64_t seed = 0;
  bool scores = false, raw = false;
};

// One line, whatever the answer holds.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (char c : text) line += c == '\n' ? "\\n" : std::string(1, c);
  return line;
}

bool blank(const std::string& line) { return line.find_first_not_of(" \t\r") == std::string::npos; }

// Answers of one line, separated by tabs; each with its score behind it when asked.
std::string text_of(const std::vector<Prediction>& predictions, const PredictWords& words) {
  std::string text;
  for (const Prediction& p : predictions) {
    text += (text.empty() ? "" : "\t") + (words.raw ? p.text : on_one_line(p.text));
    if (words.scores) text += fmt::format("\t{:.6g}", p.score);
  }
  return text;
}

void answer(const Solver& solver, const std::vector<std::string>& lines, uint64_t& asked_before,
            const PredictWords& words) {
  std::vector<std::string> asked;  // blank lines have no answer
  for (const std::string& line : lines) {
    if (!blank(line)) asked.push_back(line);
  }
  const auto answers =
      asked.empty() ? std::vector<std::vector<Prediction>>()
                    : solver.predict(
                          asked, {.nbest = words.nbest, .seed = words.seed, .first = asked_before});
  asked_before += asked.size();
  size_t next = 0;
  for (const std::string& line : lines) {
    fmt::print("{}\n", blank(line) ? "" : text_of(answers[next++], words));
  }
  std::fflush(stdout);
}

void predict(const PredictWords& words) {
  auto solver = solver_of(model_folder(words.folder), *words.answers);
  std::ios::sync_with_stdio(false);  // so that in_avail tells what has come already
  constexpr size_t most = 256;
  std::vector<std::string> lines;
  int64_t number = 0;
  uint64_t asked = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (const auto bad = first_not_utf8(line); bad >= 0) {
      answer(*solver, lines, asked, words);
      fail("stdin:", number, ": not UTF-8 text at byte ", bad + 1);
    }
    lines.push_back(std::move(line));
    // Many lines at once are faster, but who waits for an answer before asking on gets it.
    if (lines.size() < most && std::cin.rdbuf()->in_avail() > 0) continue;
    answer(*solver, lines, asked, words);
    lines.clear();
  }
  answer(*solver, lines, asked, words);
}

}  // namespace

void add_predict(CLI::App& app) {
  auto* verb = app.add_subcommand("predict", "Answer each line of stdin with a line on stdout");
  auto words = std::make_shared<PredictWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_option("--nbest", words->nbest, "So many answers on each line, separated by tabs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--seed", words->seed, "Of what is drawn, as by a language model");
  verb->add_flag("--scores", words->scores, "Behind each answer a tab and its log-probability");
  verb->add_flag("--raw", words->raw, "Line breaks within an answer as they are, not as \\n");
  words->answers = ConfigWords::of_answers(*verb);
  verb->callback([words] { predict(*words); });
}

}  // namespace fovea::cli
