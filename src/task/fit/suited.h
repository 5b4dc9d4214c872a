// What suits a file of examples, for `train`: the sizes, tokens, dropout and length of training
// that a search would begin with for the same model.
#pragma once

#include <string>

#include "fovea/task/solver.h"

namespace fovea {

struct Suited {
  Settings settings;  // what was said, and behind it what suits
  std::string why;    // for people, what was added; empty: nothing
};

// Built-in data, stdin and tasks without such knowledge stay as they are. What was said goes first.
Suited suited_to_data(const Task& task, const Settings& said);

}  // namespace fovea
