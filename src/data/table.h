// Numbers in rows: what `regress` learns from.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/random.h"

namespace fovea {

// Features and one target a row.
struct NumberTable {
  std::vector<std::string> names;         // columns, the target last
  std::vector<std::vector<double>> rows;  // equally long, the target last
};

// CSV with or without a line of names; the last column is the target. Errors name file:line.
NumberTable read_csv(const std::string& path);

// y = 2 sin x + x + noise of deviation 1 for x uniform in [0, 5): the example of kernel pooling in
// "Dive into Deep Learning".
NumberTable generate_sine(int64_t rows, uint64_t seed);

}  // namespace fovea
