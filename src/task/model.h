// A trained folder, to ask: what `fovea predict` and `fovea attend` answer with.
//
//   const Model model = Model::open("dates");
//   const Answer answer = model.predict("March 5, 1998", {.nbest = 3, .weights = true});
//   answer.best().text;                                  // "1998-03-05"
//   answer.maps[0].weights;                              // [queries, keys]
//
// One Model serves any number of threads at once, without a lock: predict() changes nothing, and
// gives the same bits however many ask. Copies share the weights.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/task/answer.h"
#include "fovea/task/config.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

class Solver;

// What is asked for beside the first answer.
struct AskOptions {
  int64_t nbest = 1;     // answers a line, best first, at least 1
  bool weights = false;  // where it looked, too: answers each line once more, under a Recorder
  uint64_t seed = 0;     // of what is drawn; line i of a call draws its own numbers
  // Called with each piece of an answer as it is written, on the calling thread: the tokens of a
  // language model's first continuation, what is answered at once as one piece. The pieces of a
  // line together are its best answer. What it throws ends the call.
  std::function<void(size_t line, std::string_view piece)> written{};
};

// One attention of one head, as an array.
struct AnswerMap {
  std::string name;                        // "decoder/attention"; "encoder/0/self head 2"
  std::vector<std::string> queries, keys;  // the words of each
  Tensor weights;                          // [queries, keys]
};

// What a model says to one line.
struct Answer {
  std::vector<Prediction> predictions;  // best first, typed as the task gives them
  std::vector<AnswerMap> maps{};        // where weights were asked for and the model has attention
  // The first prediction.
  const Prediction& best() const {
    check(!predictions.empty(), "answer: the model gave none");
    return predictions.front();
  }
};

// A trained model with its words.
class Model {
 public:
  // The folder of a run, or of a comparison, for its best run. Settings for how it answers may be
  // other than it was trained with: {{"beam", "4"}}. An Error of kind input or io says what is
  // wrong with a folder.
  static Model open(const std::string& folder);
  static Model open(const std::string& folder, const Settings& settings);

  // Learns in a folder, which must not hold a model yet, and opens it:
  //   Model::train("classify", {{"data", "mine.csv"}, {"time", "60s"}}, "mine");
  static Model train(const std::string& task, const Settings& settings, const std::string& folder);

  // The answer to one line.
  Answer predict(const std::string& line, const AskOptions& options) const;
  Answer predict(const std::string& line) const { return predict(line, AskOptions()); }
  // The answers to many, in their order; faster than one after the other.
  std::vector<Answer> predict(std::span<const std::string> lines, const AskOptions& options) const;
  std::vector<Answer> predict(std::span<const std::string> lines) const {
    return predict(lines, AskOptions());
  }

  // The run that made it: task, model, every option.
  const Config& config() const;
  // How many numbers it learned.
  int64_t parameters() const;

 private:
  explicit Model(std::shared_ptr<const Solver> solver) : solver_(std::move(solver)) {}
  std::shared_ptr<const Solver> solver_;
};

}  // namespace fovea
