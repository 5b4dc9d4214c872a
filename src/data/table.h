// Numbers in rows: what `regress` learns from.
#pragma once

#include <string>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/data/records.h"

namespace fovea {

// Features and one target a row.
struct NumberTable {
  std::vector<std::string> names;         // columns, the target last
  std::vector<std::vector<double>> rows;  // equally long, the target last
};

// CSV with or without a line of names; the last column is the target. Errors name file:line.
NumberTable read_csv(const std::string& path);

// The same from any file that RecordReader takes: the role `target` (by its usual name, else the
// last column of numbers) and the role `numbers` (by itself all other columns of numbers). Columns
// of text are left out.
NumberTable read_numbers(const std::string& path, const ReadOptions& options,
                         ReadSummary* summary = nullptr);

// y = 2 sin x + x + noise of deviation 1 for x uniform in [0, 5): the example of kernel pooling in
// "Dive into Deep Learning".
NumberTable generate_sine(int64_t rows, uint64_t seed);

}  // namespace fovea
