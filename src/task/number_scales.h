// Numbers of examples by their names, moved and scaled so that each has mean 0 and deviation 1.
#pragma once

#include <string>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct NumberScales {
  std::vector<std::string> names;     // in the order of a row's numbers
  std::vector<double> center, scale;  // of each, over those that are known

  // Learned from rows of as many numbers as there are names; NaN is one that is not known. An
  // Error where they are too large for a mean and a deviation.
  static NumberScales of(std::vector<std::string> names,
                         const std::vector<std::vector<double>>& rows);
  // [rows, names], cut at 8 deviations; what is not known is 0, the mean.
  Tensor scaled(const std::vector<std::vector<double>>& rows) const;

  // folder/name.json
  void save(const std::string& folder, const std::string& name) const;
  // What save() left there.
  static NumberScales load(const std::string& folder, const std::string& name);
};

}  // namespace fovea
