#include "fovea/model/sight/fully_connected.h"

#include "fovea/model/recurrent/encoder.h"

namespace fovea {

const Fields<FullyConnectedOptions>& fully_connected_fields() {
  static const Fields<FullyConnectedOptions> fields(layer_fields<FullyConnectedOptions>(), {});
  return fields;
}

FullyConnected::FullyConnected(Scope s, const ModelSizes& sizes, const FullyConnectedOptions& o)
    : output_(s / "output", o.width, sizes.labels), dropout_(o.dropout) {
  for (int64_t i = 0; i < o.layers; ++i) {
    layers_.emplace_back(s / "layer" / i,
                         i == 0 ? sizes.height * sizes.width * sizes.channels : o.width, o.width);
  }
}

Scorer::Output FullyConnected::operator()(const ModelInputs& in) const {
  Tensor x = reshape(affine(in.pictures, 2, -1), {in.pictures.dim(0), -1});
  for (const Linear& layer : layers_) x = dropout(relu(layer(x)), dropout_);
  return {output_(x)};
}

}  // namespace fovea
