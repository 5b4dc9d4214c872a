#include "fovea/model/recurrent/classifier.h"

#include "fovea/op/reduce.h"

namespace fovea {

const Fields<RecurrentClassifierOptions>& recurrent_classifier_fields() {
  using O = RecurrentClassifierOptions;
  static const Fields<O> fields(
      recurrent_fields(), {{"summary", &O::summary, "without attention: what stands for a text",
                            one_of({"last", "mean", "max"})}});
  return fields;
}

RecurrentClassifier::RecurrentClassifier(Scope s, const ModelSizes& sizes,
                                         const RecurrentClassifierOptions& o,
                                         const AttentionOptions& attention)
    : options_(o),
      encoder_(s / "encoder", sizes.vocabulary, o),
      output_(s / "output", encoder_.features(), sizes.labels) {
  if (!attends(attention)) return;
  query_ = s.param("query", {encoder_.features()}, init::normal(0.1));
  attention_.emplace(s / "attention", attention, encoder_.features(), encoder_.features());
}

Scorer::Output RecurrentClassifier::operator()(const ModelInputs& in) const {
  const Sequences& tokens = in.text;
  const auto out = encoder_(tokens);
  const int64_t B = tokens.count(), D = encoder_.features();
  Tensor pooled, log_probability;
  if (attention_) {
    const auto read = (*attention_)({.q = broadcast_to(reshape(query_, {1, 1, D}), {B, 1, D}),
                                     .memory = unpack(out.rows, tokens.offsets, tokens.longest),
                                     .lengths = tokens.lengths()});
    pooled = reshape(read.context, {B, D});
    if (!read.log_probability.empty()) log_probability = reshape(read.log_probability, {B});
  } else if (options_.summary == "last") {
    pooled = encoder_.final_state(out.last);
  } else if (options_.summary == "mean") {
    pooled = mean_rows(out.rows, tokens);
  } else {
    // States lie in (-1, 1): taking 2 off the padding keeps it below all of them.
    const Tensor ones = unpack(Tensor::full({tokens.rows(), 1}, 2, out.rows.dtype()),
                               tokens.offsets, tokens.longest);
    pooled = max(unpack(out.rows, tokens.offsets, tokens.longest) + (ones - 2.0), 1);
  }
  return {output_(dropout(pooled, options_.dropout)), log_probability};
}

}  // namespace fovea
