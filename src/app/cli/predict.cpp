// fovea predict DIR: stdin to stdout, one line out for each line in, in order.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "fovea/app/cli/config_words.h"
#include "fovea/app/cli/model_folder.h"
#include "fovea/app/cli/questions.h"
#include "fovea/app/cli/terminal.h"
#include "fovea/app/cli/verbs.h"
#include "fovea/task/answer_json.h"
#include "fovea/task/solver.h"

namespace fovea::cli {
namespace {

struct PredictWords {
  std::optional<ConfigWords> answers;
  std::string folder, data = "-";
  int64_t nbest = 1;
  uint64_t seed = 0;
  bool scores = false, raw = false, json = false, tsv = false;
};

// One line, whatever the answer holds.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (char c : text) line += c == '\n' ? "\\n" : std::string(1, c);
  return line;
}

class Answering {
 public:
  Answering(const Solver& solver, const PredictWords& words)
      : solver_(solver),
        words_(words),
        task_(find_task(solver.config().task)),
        gives_(variant_of(task_, solver.config().settings).gives),
        skips_bad_(words.answers->settings().get("skip_bad") == "true") {
    if (words.nbest > 1 && !task_.several_answers) {
      throw UsageError(say("predict: a model of ", task_.name, " has one answer a line; --nbest ",
                           words.nbest, " counts for those of translate, classify, lm and mlm"));
    }
    if (!words.tsv) return;
    labels_ = solver.labels();
    print_row(answer_columns(gives_, labels_));
  }

  void answer(const std::vector<Question>& questions) {
    std::vector<std::string> asked;
    std::vector<bool> asks;  // blank lines have no answer, nor has a story that is being told
    for (const Question& q : questions) {
      const auto text = q.error.empty() ? solver_.heard(so_far_, q.text) : std::nullopt;
      asks.push_back(text.has_value());
      if (text) asked.push_back(*text);
    }
    std::vector<Answered> answers;
    if (!asked.empty()) {
      answers = solver_.predict_each(asked, {.nbest = words_.nbest,
                                             .seed = words_.seed,
                                             .first = asked_before_,
                                             .details = words_.json || words_.tsv});
    }
    asked_before_ += asked.size();
    size_t next = 0;
    for (size_t i = 0; i < questions.size(); ++i) {
      const Question& q = questions[i];
      Answered one;
      if (asks[i]) one = std::move(answers[next++]);
      if (!q.error.empty()) one.error = q.error;
      print(one, q);
    }
    flush_stdout();
  }

  int64_t failed() const { return failed_; }
  int64_t skipped() const { return skipped_; }  // rows that are none, and were to be left out

 private:
  void print(const Answered& answered, const Question& question) {
    if (skips_bad_ && !question.error.empty()) {
      ++skipped_;
      return;
    }
    if (!answered.error.empty()) {
      ++failed_;
      if (!words_.json) {
        fmt::print(stderr, "fovea: {}:{}: {}\n", question.path, question.line, answered.error);
      }
    }
    if (words_.json) {
      std::string text;
      append_json(text, answered, gives_, question.line);
      fmt::print("{}\n", text);
    } else if (words_.tsv) {
      for (const auto& row : answer_rows(answered, gives_, question.line, labels_)) {
        print_row(row);
      }
    } else {
      fmt::print("{}\n", plain(answered.predictions));
    }
  }

  static void print_row(const std::vector<std::string>& cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) text += (i == 0 ? "" : "\t") + cells[i];
    fmt::print("{}\n", text);
  }

  // Answers of one line, separated by tabs; each with its score behind it when asked.
  std::string plain(const std::vector<Prediction>& predictions) const {
    std::string text;
    for (const Prediction& p : predictions) {
      text += (text.empty() ? "" : "\t") + (words_.raw ? p.text : on_one_line(p.text));
      if (words_.scores) text += fmt::format("\t{:.6g}", p.score);
    }
    return text;
  }

  const Solver& solver_;
  const PredictWords& words_;
  const Task& task_;
  Gives gives_;
  bool skips_bad_;
  std::vector<std::string> labels_;
  std::string so_far_;  // of a conversation
  uint64_t asked_before_ = 0;
  int64_t failed_ = 0, skipped_ = 0;
};

int predict(const PredictWords& words) {
  if (words.json && words.tsv) throw UsageError("predict: --json or --tsv, not both");
  auto solver = solver_of(model_folder(words.folder), *words.answers);
  Answering answering(*solver, words);
  Questions questions(*solver, words.data, words.answers->settings());
  constexpr size_t most = 256;
  std::vector<Question> some;
  while (questions.next(some)) {
    // Many lines at once are faster, but who waits for an answer before asking on gets it.
    if (some.size() < most && questions.has_line()) continue;
    answering.answer(some);
    some.clear();
  }
  answering.answer(some);
  if (answering.skipped() > 0) {
    fmt::print(stderr, "fovea: {} bad row{} left out\n", answering.skipped(),
               answering.skipped() == 1 ? "" : "s");
  }
  if (answering.failed() == 0) return 0;
  fmt::print(stderr, "fovea: {} line{} could not be answered\n", answering.failed(),
             answering.failed() == 1 ? "" : "s");
  return 1;
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
  auto* verb = app.add_subcommand("predict", "Answer each line of stdin with a line on stdout");
  auto words = std::make_shared<PredictWords>();
  verb->add_option("dir", words->folder, "Folder of the model")->required();
  verb->add_option("--data", words->data, "A file to answer instead of stdin");
  verb->add_option("--nbest", words->nbest, "So many answers on each line, separated by tabs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--seed", words->seed, "Of what is drawn, as by a language model");
  verb->add_flag("--json", words->json,
                 "An object a line: answer, probabilities, tokens and where they stand");
  verb->add_flag("--tsv", words->tsv, "A table with names: answer, probabilities; a row a token");
  verb->add_flag("--scores", words->scores, "Behind each answer a tab and its log-probability");
  verb->add_flag("--raw", words->raw, "Line breaks within an answer as they are, not as \\n");
  words->answers = ConfigWords::of_answers(*verb);
  words->answers->add_reading(*verb);
  verb->callback([words, &exit_code] { exit_code = predict(*words); });
}

}  // namespace fovea::cli
