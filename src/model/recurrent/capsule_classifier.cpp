#include "fovea/model/recurrent/capsule_classifier.h"

namespace fovea {

CapsuleClassifier::CapsuleClassifier(Scope s, const ModelSizes& sizes,
                                     const RecurrentModelOptions& o,
                                     const AttentionOptions& attention)
    : encoder_(s / "encoder", sizes.vocabulary, o),
      capsules_(s / "capsules", sizes.labels, encoder_.features(), encoder_.features(),
                alignment_factory(attention)) {}

Capsules::Output CapsuleClassifier::look(const ModelInputs& in) const {
  const Tensor rows = dropout(encoder_(in.text).rows, encoder_.options.dropout);
  return capsules_({.k = unpack(rows, in.text.offsets, in.text.longest),
                    .who = lengths(in.text.lengths()),
                    .lengths = in.text.lengths()});
}

Scorer::Output CapsuleClassifier::operator()(const ModelInputs& in) const {
  const Capsules::Output out = look(in);
  return {log(out.probability + 1e-12), out.log_probability};
}

Tensor CapsuleClassifier::loss(const ModelInputs& in, const Tensor& targets, double) const {
  const Capsules::Output out = look(in);
  return mean_with_reinforce(capsule_losses(out, targets), out.log_probability);
}

}  // namespace fovea
