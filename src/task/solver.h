// A task with its model: it learns (as a Learner), answers, is measured, and shows what it looks
// at. Commands know tasks only through this.
#pragma once

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

class Solver : public Learner {
 public:
  // Leaves in the folder what, beside config and weights, a later run needs: vocabularies.
  virtual void save_vocabulary(const std::string& folder) const = 0;
  // part: "dev", "test", or a file of the task's format.
  virtual Evaluation evaluate(const std::string& part) = 0;
  // For every line its predictions, best first, at most nbest.
  virtual std::vector<std::vector<Prediction>> predict(const std::vector<std::string>& lines,
                                                       int64_t nbest) = 0;
  // The line that asks predict() about an input of evaluate().
  virtual std::string question(const std::string& input) const { return input; }
  // Where it looks when it answers; maps is empty for a model without attention.
  virtual Drawing attend(const std::string& input) = 0;
  // Lines of text about the data: "9,000 examples to learn from, ...".
  virtual std::string summary() const = 0;

  Parameters& parameters() override { return parameters_; }

 protected:
  explicit Solver(const Config& config)
      : config_(config), parameters_(static_cast<uint64_t>(config.seed)) {}
  Config config_;
  Parameters parameters_;
};

// Whether a solver is made to learn (it reads its data, and has the first weights even when it has
// a folder: a run that was killed before its first state starts from them) or to be used.
enum class Purpose { learn, use };

using Settings = std::vector<std::pair<std::string, std::string>>;

// Data that our own code generates.
struct Builtin {
  std::string name, help;
  Settings settings{};  // that suit it
};

struct Task {
  std::string name, title, input;  // input: the format of its files
  std::vector<Builtin> builtin;
  Settings defaults;  // where they differ from Config's
  Settings budget;    // where the user names none
  // With a folder, vocabularies come from there; without, they are learned from the data.
  std::unique_ptr<Solver> (*make)(const Config&, Purpose, const std::string& folder);
};
const std::vector<Task>& tasks();
// An unknown one is an Error that suggests the nearest.
const Task& find_task(std::string_view name);

// An unknown one is an Error that suggests the nearest.
const Builtin& find_builtin(const Task& task, std::string_view name);

// The task's defaults, then those of its built-in data, then the settings in order.
Config make_config(const Task& task, const Settings& settings);

// A model's folder: config.json, weights, vocabularies.
void save_config(const std::string& folder, const Config& config);
Config load_config(const std::string& folder);
// With some settings changed, such as how it answers.
std::unique_ptr<Solver> open_solver(const std::string& folder, const Settings& settings = {});

}  // namespace fovea
