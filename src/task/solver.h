// A task with its model: it learns (as a Learner), answers, is measured, and shows what it looks
// at. Commands know tasks only through this.
#pragma once

#include <optional>
#include <utility>

#include "fovea/data/tokenizer.h"
#include "fovea/model/table.h"
#include "fovea/nn/parameter_file.h"
#include "fovea/report/heat_map.h"
#include "fovea/task/answer.h"
#include "fovea/task/class_report.h"
#include "fovea/task/config.h"
#include "fovea/task/data_report.h"
#include "fovea/train/trainer.h"

namespace fovea {

// What a model made of a set of examples.
struct Evaluation {
  // A metric with what each example counted.
  struct One {
    std::string metric;          // of find_metric()
    std::vector<Tally> tallies;  // one an example
  };
  std::vector<One> metrics;                          // the task's own first
  std::vector<std::string> inputs, truths, outputs;  // one an example, as lines of text
  double seconds = 0;                                // answering all of them
  std::vector<LabelledItem> items{};  // of models of labels: every label that was asked for

  std::vector<Metric> values() const;  // of the whole set, one a metric
};

// What a model makes of a text that it did not write, token by token.
struct ScoredText {
  std::vector<std::string> tokens;      // those that were judged, as a person reads them
  std::vector<double> log_probability;  // of each, given all that the model may see of the rest
};

// Whether a solver is made to learn (it reads its data, and has the first weights even when it has
// a folder: a run that was killed before its first state starts from them) or to be used.
enum class Purpose { learn, use };

// Where a token of a tokenizer stands.
inline TextPlace place_of(const Token& token) {
  return {token.begin, token.end, token.char_begin, token.char_end};
}

// One task with one model.
class Solver : public Learner {
 public:
  // Leaves in the folder what, beside config and weights, a later run needs: vocabularies.
  virtual void save_vocabulary(const std::string& folder) const = 0;
  // part: "dev", "test", or a file of the task's format.
  virtual Evaluation evaluate(const std::string& part) = 0;
  // For every line its predictions, best first, at most nbest. Safe from many threads at once.
  std::vector<std::vector<Prediction>> predict(const std::vector<std::string>& lines,
                                               const PredictOptions& options = {}) const {
    check(options.nbest >= 1, "predict: needs at least one answer a line, got ", options.nbest);
    return answers(lines, options);
  }
  // The same, but an input that cannot be answered costs no other its answer.
  std::vector<Answered> predict_each(const std::vector<std::string>& lines,
                                     const PredictOptions& options = {}) const;
  // Whether PredictOptions::written hears of an answer while it is being written.
  virtual bool writes_as_it_goes() const { return false; }
  // The labels of one that gives one label; else none.
  virtual std::vector<std::string> labels() const { return {}; }
  // In a conversation, what predict() is asked when `line` comes after `so_far`, which is changed;
  // nothing where a line asks nothing. By itself a blank line asks nothing and any other itself.
  virtual std::optional<std::string> heard(std::string& so_far, const std::string& line) const;
  // The line that asks predict() about an input of evaluate().
  virtual std::string question(const std::string& input) const { return input; }
  // What it makes of each line: a text, or of what answers an input, "input<TAB>answer". Safe from
  // many threads at once.
  virtual std::vector<ScoredText> score(const std::vector<std::string>& lines) const;
  // The lines of a part, as attend() takes them.
  virtual std::vector<std::string> lines_of(const std::string& part) {
    return evaluate(part).inputs;
  }
  // Where it looks when it answers; maps is empty for a model without attention. Safe from many
  // threads at once.
  virtual Drawing attend(const std::string& input) const = 0;
  // A line about the data: "9,000 examples to learn from, ...".
  virtual std::string summary() = 0;
  // The same in numbers.
  virtual DataReport data_report() = 0;
  // What was noticed since the last call, for people to see: how files were read and texts split.
  std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }

  const Parameters& parameters() const override { return parameters_; }
  const Config& config() const { return config_; }  // as the run's folder keeps it
  // The names of the columns it learns from, for that folder.
  const std::vector<ColumnNames>& learned_columns() const { return learned_; }

 protected:
  // To be used, it reads its parameters from the folder as the model is made.
  Solver(const Config& config, Purpose purpose, const std::string& folder);
  // What predict() gives, once its options are checked.
  virtual std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                                       const PredictOptions& options) const = 0;
  // The model that the config names.
  template <class Kind>
  std::unique_ptr<const Kind> model(const ModelSizes& sizes);

  // For take_notes().
  void note(std::string sentence) const { notes_.push_back(std::move(sentence)); }
  // Of a file that was read.
  void note_file(const ReadSummary& summary) const;
  // How each was read, in a sentence.
  const std::vector<std::string>& files() const { return files_; }
  // How dev and test came to be, as people say it.
  std::string split_text() const;
  // How the tokens of the option `tokens` were chosen, where the texts decided.
  void note_tokens(const std::string& which, std::span<const std::string> texts) const;
  // Text that was learned from stdin cannot be had again.
  void check_source(const std::string& source) const;

  Config config_;          // of the run
  Parameters parameters_;  // of the model, in the order in which it was made

 private:
  mutable std::vector<std::string> notes_, files_;
  mutable std::vector<ColumnNames> learned_;
  bool learns_;
  std::optional<ParameterFile> file_;
};

// Data that our own code generates.
struct Builtin {
  std::string name, help;             // as in builtin:NAME, and what it holds
  Settings settings{};                // that suit it
  std::vector<std::string> unread{};  // options that mean nothing for it
};

// What a task can be given instead of what it mostly is.
struct TaskVariant {
  Takes takes = Takes::text;              // what its models take
  Gives gives = Gives::label;             // and what they give
  std::vector<Role> roles;                // what a record of its files has
  Role question;                          // what of a record it is asked with
  std::vector<std::string> data_options;  // which of data_fields() it reads
  Settings defaults, budget;              // as Task has them
  std::string column{};                   // the role of a column that says that this is meant
  // Whether a file holds it, where nothing was said.
  bool (*is_in)(const std::string& path, const ReadOptions& options) = nullptr;
};

// A row of the table of tasks.
struct Task {
  std::string name, title, input;  // input: the format of its files
  std::vector<Role> roles;         // what a record of its files has
  Role question;                   // what of a record it is asked with,
  Role beside{};                   // and what stands behind it and a tab; without a name: nothing
  // Every model of the table that takes and gives this can be chosen.
  Takes takes;
  Gives gives;
  bool several_answers = false;  // it can give more than one answer to a line
  std::vector<std::string> data_options, answer_options;  // which of those fields it reads
  std::vector<Builtin> builtin;       // the first is suggested where data is missing
  Settings defaults;                  // where they differ from the options' own
  Settings budget;                    // where the user names none
  std::optional<TaskVariant> also{};  // where the model or the columns say so
  // With a folder, vocabularies come from there; without, they are learned from the data.
  std::unique_ptr<Solver> (*make)(const Config&, Purpose, const std::string& folder);
};
// All of them, in the order that help lists them.
const std::vector<Task>& tasks();
// What a run takes and gives, and what goes with that, given what was said: the model's name tells,
// or what suits the built-in data, or that columns name what only one of the two has; of a name
// that both have, an option of data that only the second reads.
TaskVariant variant_of(const Task& task, const Settings& said);
// What was said, and what the data's file says where nothing else does: where it holds what the
// other variant takes, the model is one of that.
Settings with_inferred(const Task& task, Settings said);
// An unknown one is an Error that suggests the nearest.
const Task& find_task(std::string_view name);

// An unknown one is an Error that suggests the nearest.
const Builtin& find_builtin(const Task& task, std::string_view name);

// A model's folder: config.json, weights, vocabularies.
void save_config(const std::string& folder, const Config& config);
Config load_config(const std::string& folder);
// Throws when one of the settings says nothing about how such a model answers or reads files.
void check_answer_options(const Config& config, const Settings& settings);
// A solver that learns, and its folder with all but the weights; with "" none is made. `goes_on`:
// the folder is there, and its vocabularies are used.
std::unique_ptr<Solver> begin_run(const Config& config, const std::string& folder, bool goes_on);
// All but the weights.
void save_run(const Solver& solver, const std::string& folder);
// With other settings for its answers and for how it reads files; others are refused.
std::unique_ptr<Solver> open_solver(const std::string& folder, const Settings& settings = {});

template <class Kind>
std::unique_ptr<const Kind> Solver::model(const ModelSizes& sizes) {
  const Task& task = find_task(config_.task);
  const TaskVariant variant = variant_of(task, config_.settings);
  auto made = make_model<Kind>(find_model(config_.model, variant.takes, variant.gives),
                               Scope(parameters_), sizes, config_.settings);
  if (file_) file_->finish();
  return made;
}

}  // namespace fovea
