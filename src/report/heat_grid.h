// An attention map made ready for drawing: checked, scaled to its largest weight, pooled where it
// has more rows or columns than a picture can hold.
#pragma once

#include <cstdint>

#include "fovea/report/heat_map.h"

namespace fovea {

struct HeatGrid {
  std::vector<std::string> queries, keys;    // of its rows and columns
  std::vector<float> shade;                  // [queries, keys], 0..1
  float largest = 0;                         // the weight that shade 1 stands for
  int64_t rows_pooled = 1, keys_pooled = 1;  // of the map, in one of the grid

  // Its size, and the shade of a cell.
  int64_t rows() const { return static_cast<int64_t>(queries.size()); }
  int64_t cols() const { return static_cast<int64_t>(keys.size()); }
  float at(int64_t row, int64_t col) const { return shade.data()[row * cols() + col]; }
  // One sentence about the pooling, empty where there was none.
  std::string note() const;
};

// At most these many rows and columns: the largest weight of each block under the name of its
// first.
HeatGrid heat_grid(const AttentionMap& map, int64_t most_rows, int64_t most_cols);

// The shades of a map's groups of keys, the heaviest 1.
std::vector<float> group_shades(const AttentionMap& map);

// "0.83", with as many digits as tell small weights apart.
std::string weight_text(float weight);

}  // namespace fovea
