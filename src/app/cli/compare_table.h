// A comparison as the terminal shows it.
#pragma once

#include "fovea/task/comparison.h"

namespace fovea::cli {

// The choices, best first, and what the columns mean; in 80 columns.
void print_table(const Comparison& comparison);
// Where the best choice that has attention looks, on the first example.
void print_heat_map(const Comparison& comparison);

}  // namespace fovea::cli
