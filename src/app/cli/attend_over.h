// fovea attend DIR --over FILE: what each head does over many examples.
#pragma once

#include <string>
#include <vector>

#include "fovea/task/solver.h"

namespace fovea::cli {

struct OverWords {
  std::string part;              // "dev", "test" or a file
  std::string alignment;         // a file of links, or empty
  std::string map;               // only maps whose name begins so
  std::vector<std::string> out;  // .json and .html files
  bool json = false;
};

// Leaves the maps whose name begins so; a UsageError where none does.
void choose_maps(Drawing& drawing, const std::string& map);

// Prints the table, or writes what was asked for.
void attend_over(Solver& solver, const std::string& folder, const OverWords& words);

}  // namespace fovea::cli
