#include "fovea/model/pair/rotatory_classifier.h"

namespace fovea {

RotatoryClassifier::RotatoryClassifier(Scope s, const ModelSizes& sizes, const PairOptions& o,
                                       const AttentionOptions& attention)
    : options_(o),
      encoder_(s / "encoder", sizes.vocabulary, o),
      attention_(s / "attention", encoder_.features(), encoder_.features(),
                 {feature_options(attention), attention.hops}),
      output_(s / "output", 4 * encoder_.features(), sizes.labels) {}

Scorer::Output RotatoryClassifier::operator()(const ModelInputs& in) const {
  const PhraseAndSides parts = encode_phrase(encoder_, in, options_.whole);
  const FeatureOutput read = attention_(parts.phrase, parts.left, parts.right);
  return {output_(dropout(read.joined(), options_.dropout)), read.log_probability};
}

}  // namespace fovea
