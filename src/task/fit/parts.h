// The data of a run as texts, whatever the task: what an audit looks at.
#pragma once

#include <string>
#include <vector>

#include "fovea/task/config.h"

namespace fovea {

// One example, whatever it is made of.
struct FitExample {
  std::string input, answer;      // as text; lm and mlm have no answer
  std::string together{};         // examples of one such key stay in one part, as in the task
  std::vector<double> numbers{};  // of regress, the target last
};

// All examples, split.
struct FitParts {
  std::vector<FitExample> train, dev, test;  // to learn from, to validate and test on
  std::vector<ReadSummary> files{};          // what was read, and how many rows could not be
};

// Whether a number is learned from a text rather than from numbers.
bool reads_text(const Config& config);
// Whether its examples are texts that an audit knows. Our own data needs none.
bool can_be_audited(const Config& config);
// All of `data`, before anything is split off.
std::vector<FitExample> read_to_learn(const Config& config);
// The same split as the task's own.
FitParts read_fit_parts(const Config& config);

}  // namespace fovea
