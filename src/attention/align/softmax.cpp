#include "fovea/attention/align/softmax.h"

#include "fovea/op/elementwise.h"
#include "fovea/op/softmax.h"

namespace fovea {

AlignedWeights aligned(const Alignment& align, const Tensor& e, const AlignmentStart& start) {
  return align.weights ? align.weights(e, start) : AlignedWeights{softmax(e)};
}

Alignment softmax_alignment() { return {}; }

Alignment sigmoid_alignment() {
  return {
      .name = "sigmoid",
      .weights = [](const Tensor& e, const AlignmentStart&) { return AlignedWeights{sigmoid(e)}; },
      .rows = RowAlignment{.align = kernel::RowAlign::sigmoid}};
}

}  // namespace fovea
