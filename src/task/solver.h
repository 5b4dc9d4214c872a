// A task with its model: it learns (as a Learner), answers, is measured, and shows what it looks
// at. Commands know tasks only through this.
#pragma once

#include "fovea/model/table.h"
#include "fovea/nn/parameter_file.h"
#include "fovea/report/heat_map.h"
#include "fovea/task/config.h"
#include "fovea/train/trainer.h"

namespace fovea {

// What a model made of a set of examples.
struct Evaluation {
  struct One {
    std::string metric;          // of find_metric()
    std::vector<Tally> tallies;  // one an example
  };
  std::vector<One> metrics;  // the task's own first
  std::vector<std::string> inputs, truths, outputs;
  double seconds = 0;  // answering all of them

  std::vector<Metric> values() const;
};

struct Prediction {
  std::string text;
  double score = 0;  // log-probability, as the task defines it
};

struct PredictOptions {
  int64_t nbest = 1;   // answers a line, at least 1
  uint64_t seed = 0;   // of what is drawn: line i of all that were asked draws its own numbers
  uint64_t first = 0;  // how many lines were asked before the first of these
};

// Whether a solver is made to learn (it reads its data, and has the first weights even when it has
// a folder: a run that was killed before its first state starts from them) or to be used.
enum class Purpose { learn, use };

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
  // The line that asks predict() about an input of evaluate().
  virtual std::string question(const std::string& input) const { return input; }
  // Where it looks when it answers; maps is empty for a model without attention. Safe from many
  // threads at once.
  virtual Drawing attend(const std::string& input) const = 0;
  // A line about the data: "9,000 examples to learn from, ...".
  virtual std::string summary() = 0;

  const Parameters& parameters() const override { return parameters_; }
  const Config& config() const { return config_; }

 protected:
  // To be used, it reads its parameters from the folder as the model is made.
  Solver(const Config& config, Purpose purpose, const std::string& folder);
  virtual std::vector<std::vector<Prediction>> answers(const std::vector<std::string>& lines,
                                                       const PredictOptions& options) const = 0;
  // The model that the config names.
  template <class Kind>
  std::unique_ptr<const Kind> model(const ModelSizes& sizes);

  Config config_;
  Parameters parameters_;

 private:
  std::optional<ParameterFile> file_;
};

// Data that our own code generates.
struct Builtin {
  std::string name, help;
  Settings settings{};  // that suit it
};

struct Task {
  std::string name, title, input;  // input: the format of its files
  Takes takes;  // every model of the table that takes and gives this can be chosen
  Gives gives;
  std::vector<std::string> data_options, answer_options;  // which of those fields it reads
  std::vector<Builtin> builtin;
  Settings defaults;  // where they differ from the options' own
  Settings budget;    // where the user names none
  // With a folder, vocabularies come from there; without, they are learned from the data.
  std::unique_ptr<Solver> (*make)(const Config&, Purpose, const std::string& folder);
};
const std::vector<Task>& tasks();
// An unknown one is an Error that suggests the nearest.
const Task& find_task(std::string_view name);

// An unknown one is an Error that suggests the nearest.
const Builtin& find_builtin(const Task& task, std::string_view name);

// A model's folder: config.json, weights, vocabularies.
void save_config(const std::string& folder, const Config& config);
Config load_config(const std::string& folder);
// Throws when one of the settings says nothing about how such a model answers.
void check_answer_options(const Config& config, const Settings& settings);
// With other settings for its answers; others are refused.
std::unique_ptr<Solver> open_solver(const std::string& folder, const Settings& settings = {});

template <class Kind>
std::unique_ptr<const Kind> Solver::model(const ModelSizes& sizes) {
  const Task& task = find_task(config_.task);
  auto made = make_model<Kind>(find_model(config_.model, task.takes, task.gives),
                               Scope(parameters_), sizes, config_.settings);
  if (file_) file_->finish();
  return made;
}

}  // namespace fovea
