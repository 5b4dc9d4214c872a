#include "fovea/model/transformer_heads.h"

#include <algorithm>

#include "fovea/op/reduce.h"

namespace fovea {
namespace {

constexpr int64_t letter_features = 32;

const Tensor& output_of(Parameters& table, const Embedding& embedding, bool tied) {
  if (tied) return embedding.weight;
  return Scope(table).param("output/weight", embedding.weight.shape(), init::xavier_uniform());
}

}  // namespace

TransformerTagger::TransformerTagger(Parameters& table, int64_t vocabulary, int64_t alphabet_size,
                                     int64_t labels, const TransformerOptions& options,
                                     int64_t letters)
    : encoder(table, vocabulary, options), output(Scope(table) / "output", options.width, labels) {
  if (letters == 0) return;
  alphabet.emplace(Scope(table) / "alphabet", alphabet_size, letter_features);
  spelling.emplace(Scope(table) / "spelling", letter_features, letters, 3,
                   Conv1dOptions{.padding = 1});
  spelled.emplace(Scope(table) / "spelled", letters, options.width);
}

Tensor TransformerTagger::operator()(const Sequences& words, const Tensor& letters,
                                     Random* random) const {
  Tensor more;
  if (spelling) more = (*spelled)(max(relu((*spelling)((*alphabet)(letters))), 1));
  const Tensor states = encoder(words, random, more);
  return output(maybe_dropout(states, encoder.options.dropout, random));
}

TransformerClassifier::TransformerClassifier(Parameters& table, int64_t vocabulary, int64_t labels,
                                             const TransformerOptions& options, std::string how)
    : summary(std::move(how)),
      encoder(table, vocabulary, options),
      output(Scope(table) / "output", options.width, labels) {
  const std::vector<std::string> summaries{"mean", "first"};
  check(std::ranges::find(summaries, summary) != summaries.end(),
        unknown_name("summary", summary, summaries));
}

Classifier::Output TransformerClassifier::operator()(const Sequences& tokens,
                                                     Random* random) const {
  const Tensor rows = encoder(tokens, random);
  const Tensor pooled = summary == "mean"
                            ? mean_rows(rows, tokens)
                            : embedding(rows, slice(tokens.offsets, 0, 0, tokens.count()));
  return {output(maybe_dropout(pooled, encoder.options.dropout, random)), {}};
}

MaskedLanguageModel::MaskedLanguageModel(Parameters& table, int64_t vocabulary,
                                         const TransformerOptions& options)
    : encoder(table, vocabulary, options),
      dense(Scope(table) / "dense", options.width, options.width),
      norm(Scope(table) / "norm", options.width),
      output_weight(output_of(table, encoder.embedding, options.tied)),
      output_bias(Scope(table).param("output/bias", {vocabulary}, init::zeros())) {}

Tensor MaskedLanguageModel::operator()(const Sequences& tokens, const Tensor& rows,
                                       Random* random) const {
  const Tensor states = encoder(tokens, random);
  const Tensor asked = rows.empty() ? states : embedding(states, rows);
  return linear(norm(gelu(dense(asked))), output_weight, output_bias);
}

}  // namespace fovea
