#include "fovea/model/document/hierarchical_classifier.h"

#include "fovea/op/index.h"

namespace fovea {

HierarchicalClassifier::HierarchicalClassifier(Scope s, const ModelSizes& sizes,
                                               const TextEncoderOptions& o,
                                               const std::optional<AttentionOptions>& attention)
    : options_(o),
      words_(s / "encoder", sizes.vocabulary, o),
      sentences_(s / "sentences", words_.features(), o),
      output_(s / "output", words_.features(), sizes.labels) {
  if (!attention) return;
  const int64_t d = words_.features();
  attention_.emplace(s / "attention", std::vector{d, d}, feature_options(*attention));
}

Scorer::Output HierarchicalClassifier::operator()(const ModelInputs& in) const {
  const NestedSequences& document = in.document;
  check(document.inner.rows() > 0, "hierarchical: needs texts cut into sentences");
  Tensor drawn;
  // One level: a row for each of its sequences.
  const auto pooled = [&](size_t level, const RaggedRows& rows) {
    if (!attention_) return mean_rows(rows.values, rows);
    FeatureOutput out = attention_->level(level, rows);
    if (!drawn.empty()) out.drew(scatter_add(drawn, rows.owners(), rows.count()));
    drawn = out.log_probability;
    return out.contexts[0];
  };
  const Tensor of_sentences = pooled(0, {words_(document.inner), document.inner});
  const RaggedRows below = document.outer_rows(dropout(of_sentences, options_.dropout));
  const Tensor of_document = pooled(1, {sentences_(below), below});
  return {output_(dropout(of_document, options_.dropout)), drawn};
}

}  // namespace fovea
