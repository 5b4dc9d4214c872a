#include "fovea/model/language_model.h"

#include <limits>

namespace fovea {

LanguageModel::LanguageModel(Parameters& table, int64_t vocabulary,
                             const TransformerOptions& options)
    : decoder_(table, "decoder", vocabulary, options, TransformerStack::Kind::decoder) {
  if (!options.tied) {
    output_.emplace(Scope(table) / "output", options.width, vocabulary,
                    LinearOptions{.bias = false});
  }
}

Tensor LanguageModel::scores(const Sequences& ids, Random* random) const {
  return output(decoder_(ids, random));
}

int64_t LanguageModel::longest() const {
  return decoder_.positions ? decoder_.options.longest : std::numeric_limits<int64_t>::max();
}

Tensor LanguageModel::Continuation::step(const Tensor& ids) {
  const Tensor rows = model_.decoder_.step(ids, state_);
  const int64_t N = ids.dim(0), m = rows.dim(0) / N, C = rows.dim(1);
  if (m == 1) return model_.output(rows);
  return model_.output(reshape(slice(reshape(rows, {N, m, C}), 1, m - 1, m), {N, C}));
}

}  // namespace fovea
