// What a file is to be learned for: the task, the columns, the parts, told by names and content.
// All of it is said, with the reason, and can be overruled.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/settings.h"

namespace fovea {

// What the user has said already; empty: to be found out.
struct FitAsked {
  // The data, at least one; their names may tell the parts. Several may stand in one with commas
  // between them.
  std::vector<std::string> files{};
  std::string task{}, columns{}, dev{}, test{};  // as the options of these names
  Settings set{};                                // other options that all models get
};

// What was found out.
struct FitData {
  std::string task;                  // its name
  Settings settings;                 // data, dev, test, columns, tokens, ...
  std::vector<std::string> because;  // a line for each thing that was taken, and why
};

// An Error is a question: it says what can be given to decide.
FitData infer_data(const FitAsked& asked);

}  // namespace fovea
