#include "fovea/attention/score/map.h"

#include <algorithm>

#include "fovea/base/names.h"
#include "fovea/op/elementwise.h"

namespace fovea {

ScoreMap score_map(const std::string& name) {
  const std::vector<std::string> names{"tanh", "sigmoid", "relu", "leaky_relu"};
  const ScoreMap maps[] = {ScoreMap::tanh, ScoreMap::sigmoid, ScoreMap::relu, ScoreMap::leaky_relu};
  const auto found = std::ranges::find(names, name);
  check(found != names.end(), unknown_name("activation", name, names));
  return maps[found - names.begin()];
}

Tensor apply(ScoreMap map, const Tensor& s) {
  switch (map) {
    case ScoreMap::none:
      return s;
    case ScoreMap::tanh:
      return tanh(s);
    case ScoreMap::sigmoid:
      return sigmoid(s);
    case ScoreMap::relu:
      return relu(s);
    case ScoreMap::leaky_relu:
      return leaky_relu(s, kernel::leaky_slope);
    case ScoreMap::distance:
      fail("attend: a distance is no function of a product");
  }
  return s;
}

}  // namespace fovea
