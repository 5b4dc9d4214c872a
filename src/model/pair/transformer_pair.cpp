#include "fovea/model/pair/transformer_pair.h"

#include "fovea/op/dropout.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {

TransformerPair::TransformerPair(Scope s, const ModelSizes& sizes,
                                 const TransformerOptions& options)
    : encoder_(s / "encoder", sizes.vocabulary, options, TransformerBlock::Kind::encoder),
      second_(encoder_),
      hidden_(s / "hidden", 4 * options.width, options.width),
      output_(s / "output", options.width, sizes.labels) {
  for (TransformerBlock& block : encoder_.blocks) block.self.name += "/first";
  for (TransformerBlock& block : second_.blocks) block.self.name += "/second";
}

Scorer::Output TransformerPair::operator()(const ModelInputs& in) const {
  check(in.second.count() > 0,
        "transformer: compares two texts; for a text and a record of numbers ",
        "take another model");
  const Tensor a = mean_rows(encoder_(in.text), in.text),
               b = mean_rows(second_(in.second), in.second), apart = a - b;
  const double p = encoder_.options.dropout;
  const Tensor both = concat({a, b, maximum(apart, -apart), a * b}, -1);
  return {output_(dropout(relu(hidden_(dropout(both, p))), p))};
}

}  // namespace fovea
