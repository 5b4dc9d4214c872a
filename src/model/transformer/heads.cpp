#include "fovea/model/transformer/heads.h"

#include <algorithm>

#include "fovea/attention/ring.h"
#include "fovea/op/dropout.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"

namespace fovea {

using Kind = TransformerBlock::Kind;

TransformerTagger::TransformerTagger(Scope s, const ModelSizes& sizes,
                                     const TransformerOptions& options,
                                     const SpellingOptions& spelling,
                                     const TagOutputOptions& output)
    : Tagger(s / "output", sizes.labels, output),
      encoder_(s / "encoder", sizes.vocabulary, options, Kind::encoder),
      output_(s / "output", options.width, sizes.labels) {
  if (spelling.letters == 0) return;
  spelling_.emplace(s, sizes.alphabet, spelling.letters);
  spelled_.emplace(s / "spelled", spelling.letters, options.width);
}

Scorer::Output TransformerTagger::operator()(const ModelInputs& in) const {
  const Tensor more = spelling_ ? (*spelled_)((*spelling_)(in.letters)) : Tensor();
  const Tensor states = encoder_(in.text, more);
  return {output_(dropout(states, encoder_.options.dropout))};
}

TransformerClassifier::TransformerClassifier(Scope s, const ModelSizes& sizes,
                                             const TransformerOptions& options, std::string summary)
    : summary_(std::move(summary)),
      encoder_(s / "encoder", sizes.vocabulary, options, Kind::encoder),
      output_(s / "output", options.width, sizes.labels) {}

// The same of sequences whose rows are on all ranks.
Tensor TransformerClassifier::pooled_on(SequenceRing& ring, const Tensor& rows,
                                        const Sequences& text) const {
  const int64_t B = text.count(), T = 2 * ring.chunk(), C = rows.dim(1);
  const Tensor padded = unpack(rows, text.offsets, T);  // [B, T, C], zeros behind the end
  if (summary_ != "mean") {
    const Tensor first = reshape(slice(padded, 1, 0, 1), {B, C});
    return ring_sum(ring, first * (ring.ranks().rank() == 0 ? 1.0 : 0.0));
  }
  Tensor share({B, 1});
  for (int64_t b = 0; b < B; ++b) {
    share.write()[static_cast<size_t>(b)] =
        1 / static_cast<float>(std::max(1, ring.lengths().read<int32_t>()[static_cast<size_t>(b)]));
  }
  return ring_sum(ring, sum(padded, 1)) * share;
}

Scorer::Output TransformerClassifier::operator()(const ModelInputs& in) const {
  const Tensor rows = encoder_(in.text);
  if (SequenceRing* ring = SequenceRing::current()) {
    return {output_(dropout(pooled_on(*ring, rows, in.text), encoder_.options.dropout))};
  }
  const Tensor pooled = summary_ == "mean"
                            ? mean_rows(rows, in.text)
                            : embedding(rows, slice(in.text.offsets, 0, 0, in.text.count()));
  return {output_(dropout(pooled, encoder_.options.dropout))};
}

MaskedLanguageModel::MaskedLanguageModel(Scope s, const ModelSizes& sizes,
                                         const TransformerOptions& options)
    : encoder_(s / "encoder", sizes.vocabulary, options, Kind::encoder),
      dense_(s / "dense", options.width, options.width),
      norm_(s / "norm", options.width),
      output_weight_(options.tied ? encoder_.embedding.weight
                                  : s.param("output/weight", encoder_.embedding.weight.shape(),
                                            init::xavier_uniform())),
      output_bias_(s.param("output/bias", {sizes.vocabulary}, init::zeros())) {}

Scorer::Output MaskedLanguageModel::operator()(const ModelInputs& in) const {
  const Tensor states = encoder_(in.text);
  const Tensor asked = in.rows.empty() ? states : embedding(states, in.rows);
  return {linear(norm_(gelu(dense_(asked))), output_weight_, output_bias_)};
}

}  // namespace fovea
