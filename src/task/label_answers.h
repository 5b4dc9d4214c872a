// Answers that are one label, as rows of log-probabilities tell them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/data/vocabulary.h"
#include "fovea/task/answer.h"
#include "fovea/task/solver.h"
#include "fovea/train/label_metrics.h"

namespace fovea {

// Of row `row` of likely [n, labels]: the best first, at most nbest; with details the first has the
// probabilities of all.
inline std::vector<Prediction> label_predictions(const Tensor& likely, int64_t row,
                                                 const Vocabulary& labels, int64_t nbest,
                                                 bool details) {
  std::vector<Prediction> all;
  for (int32_t label = 0; label < labels.size(); ++label) {
    all.push_back(
        {labels.name(label), likely.read()[static_cast<size_t>(row * labels.size() + label)]});
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Prediction::score);
  if (details) {
    std::vector<LabelProbability> each;
    for (const Prediction& p : all) each.push_back({p.text, std::exp(p.score)});
    all[0].probabilities = std::move(each);
  }
  if (static_cast<int64_t>(all.size()) > nbest) all.resize(static_cast<size_t>(nbest));
  return all;
}

// What a model makes of the label behind each line's last tab; answer(text) gives the Predictions
// of all labels.
template <class Answer>
std::vector<ScoredText> score_labels(const std::vector<std::string>& lines,
                                     const Vocabulary& labels, const Answer& answer) {
  std::vector<ScoredText> all;
  for (const std::string& line : lines) {
    const size_t tab = line.rfind('\t');
    check(tab != std::string::npos, "score: needs a text, a tab and its label, got '", line, "'");
    const std::string label = line.substr(tab + 1);
    check(labels.id(label) >= 0, "score: '", label, "' is no label of this model");
    const std::vector<Prediction> found = answer(line.substr(0, tab));
    const auto one = std::ranges::find(found, label, &Prediction::text);
    all.push_back({{label}, {one->score}});
  }
  return all;
}

// An example that was answered, into accuracy, macro-F1 and the report of classes.
class LabelMeasure {
 public:
  // With details the result has every item.
  explicit LabelMeasure(const Vocabulary& labels, bool details = true)
      : labels_(labels), details_(details) {}

  void add(const std::string& input, const std::string& truth, const Prediction& best) {
    // A label that training never saw is one more class, which no answer finds.
    const int32_t known = labels_.id(truth);
    const auto wanted = known < 0 ? static_cast<int32_t>(labels_.size()) : known;
    accuracy_.tallies.push_back(label_tally(labels_.size() + 1, wanted, labels_.id(best.text)));
    result_.inputs.push_back(input);
    result_.truths.push_back(truth);
    result_.outputs.push_back(best.text);
    if (details_) result_.items.push_back({truth, best.text, std::exp(best.score), input});
  }
  Evaluation finish(double seconds) {
    result_.metrics = {accuracy_, {"macro_f1", accuracy_.tallies}};
    result_.seconds = seconds;
    return std::move(result_);
  }

 private:
  const Vocabulary& labels_;
  bool details_;
  Evaluation result_;
  Evaluation::One accuracy_{"accuracy", {}};
};

}  // namespace fovea
