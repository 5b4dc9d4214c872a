// The data of a run as texts, whatever the task: what an audit looks at.
#pragma once

#include <string>
#include <vector>

#include "fovea/task/config.h"

namespace fovea {

struct FitExample {
  std::string input, answer;
  std::vector<double> numbers{};  // of regress, the target last
};

struct FitParts {
  std::vector<FitExample> train, dev, test;
  std::vector<ReadSummary> files{};  // what was read, and how many rows could not be
};

// Whether a number is learned from a text rather than from numbers.
bool reads_text(const Config& config);
// Whether its examples are texts that an audit knows. Our own data needs none.
bool can_be_audited(const Config& config);
// The same split as the task's own.
FitParts read_fit_parts(const Config& config);

}  // namespace fovea
