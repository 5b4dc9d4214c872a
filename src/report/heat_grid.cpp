// Checks, pools and scales attention maps for every kind of picture.
#include "fovea/report/heat_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

std::vector<std::string> every(const std::vector<std::string>& names, int64_t step) {
  std::vector<std::string> result;
  for (size_t i = 0; i < names.size(); i += step) result.push_back(names[i]);
  return result;
}

int64_t block_size(size_t count, int64_t most) {
  return std::max<int64_t>(1, (static_cast<int64_t>(count) + most - 1) / most);
}

}  // namespace

HeatGrid heat_grid(const AttentionMap& map, int64_t most_rows, int64_t most_cols) {
  const int64_t rows = map.queries.size(), cols = map.keys.size();
  check(static_cast<int64_t>(map.weights.size()) == rows * cols, "heat map \"", map.name,
        "\": ", rows, " queries and ", cols, " keys need ", rows * cols, " weights, got ",
        map.weights.size());
  HeatGrid grid;
  grid.rows_pooled = block_size(map.queries.size(), most_rows);
  grid.keys_pooled = block_size(map.keys.size(), most_cols);
  grid.queries = every(map.queries, grid.rows_pooled);
  grid.keys = every(map.keys, grid.keys_pooled);
  grid.shade.assign(grid.rows() * grid.cols(), 0.f);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      const float weight = map.weights[i * cols + j];
      if (!std::isfinite(weight)) continue;
      float& cell = grid.shade[i / grid.rows_pooled * grid.cols() + j / grid.keys_pooled];
      cell = std::max(cell, weight);
      grid.largest = std::max(grid.largest, weight);
    }
  }
  if (grid.largest > 0)
    for (float& cell : grid.shade) cell /= grid.largest;
  return grid;
}

std::vector<float> group_shades(const AttentionMap& map) {
  float most = 0;
  for (const KeyGroup& group : map.groups) most = std::max(most, group.weight);
  std::vector<float> shades;
  for (const KeyGroup& group : map.groups) {
    shades.push_back(most > 0 && std::isfinite(group.weight) ? std::max(0.f, group.weight) / most
                                                             : 0.f);
  }
  return shades;
}

std::string HeatGrid::note() const {
  const auto part = [](int64_t pooled, const char* what, const char* names) {
    return pooled == 1 ? std::string()
                       : fmt::format("each {} stands for {} {}", what, pooled, names);
  };
  const std::string row = part(rows_pooled, "row", "queries"),
                    col = part(keys_pooled, "column", "keys");
  if (row.empty() && col.empty()) return {};
  return fmt::format("Pooled: {}{}{} (the largest weight, under the first's name).", row,
                     row.empty() || col.empty() ? "" : " and ", col);
}

std::string weight_text(float weight) {
  return weight >= 0.1f || weight == 0 ? fmt::format("{:.2f}", weight)
                                       : fmt::format("{:.2g}", weight);
}

}  // namespace fovea
