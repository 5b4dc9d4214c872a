// Layers over all pixels at once, whatever stands beside what: what others are compared with.
//   h_i = relu(W_i h_(i-1) + b_i),  y = W h_n + b
#pragma once

#include <vector>

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct FullyConnectedOptions {
  int64_t layers = 2, width = 256;  // hidden layers, and the units of each
  double dropout = 0;               // behind each layer
};
// As options of a run.
const Fields<FullyConnectedOptions>& fully_connected_fields();

// The layers with their weights; pixels from 0 to 1 come in as -1 to 1.
class FullyConnected : public Scorer {
 public:
  FullyConnected(Scope s, const ModelSizes& sizes, const FullyConnectedOptions& options);
  Output operator()(const ModelInputs& in) const override;

 private:
  std::vector<Linear> layers_;
  Linear output_;
  double dropout_;
};

}  // namespace fovea
