#include "fovea/attention/score/map.h"

#include "fovea/op/elementwise.h"

namespace fovea {

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
    case ScoreMap::distance:
      fail("attend: a distance is no function of a product");
  }
  return s;
}

}  // namespace fovea
