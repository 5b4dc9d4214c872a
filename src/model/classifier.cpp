#include "fovea/model/classifier.h"

#include <algorithm>

#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"

namespace fovea {

Classifier::Classifier(Scope s, int64_t vocabulary, int64_t labels, const ClassifierOptions& o)
    : options(o),
      encoder(s / "encoder", vocabulary, o.recurrent),
      output(s / "output", encoder.features(), labels) {
  const std::vector<std::string> summaries{"last", "mean", "max"};
  check(std::ranges::find(summaries, o.summary) != summaries.end(),
        unknown_name("summary", o.summary, summaries));
  if (o.attention.score == "none") return;
  query = &s.param("query", {encoder.features()}, init::normal(0.1));
  attention.emplace(s / "attention", o.attention, encoder.features(), encoder.features());
}

Classifier::Output Classifier::operator()(const Sequences& tokens, Random* random) const {
  const auto out = encoder(tokens, random);
  const int64_t B = tokens.count(), D = encoder.features();
  Tensor pooled, log_probability;
  if (attention) {
    const auto read = (*attention)({.q = broadcast_to(reshape(*query, {1, 1, D}), {B, 1, D}),
                                    .memory = unpack(out.rows, tokens.offsets, tokens.longest),
                                    .lengths = tokens.lengths(),
                                    .random = random});
    pooled = reshape(read.context, {B, D});
    if (!read.log_probability.empty()) log_probability = reshape(read.log_probability, {B});
  } else if (options.summary == "last") {
    pooled = encoder.final_state(out.last);
  } else if (options.summary == "mean") {
    pooled = mean_rows(out.rows, tokens);
  } else {
    // States lie in (-1, 1): taking 2 off the padding keeps it below all of them.
    const Tensor ones = unpack(Tensor::full({tokens.rows(), 1}, 2, out.rows.dtype()),
                               tokens.offsets, tokens.longest);
    pooled = max(unpack(out.rows, tokens.offsets, tokens.longest) + (ones - 2.0), 1);
  }
  return {output(maybe_dropout(pooled, options.recurrent.dropout, random)), log_probability};
}

}  // namespace fovea
