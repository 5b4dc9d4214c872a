#include "fovea/model/transformer/language_model.h"

#include <limits>

#include "fovea/op/shape.h"

namespace fovea {

TransformerLanguageModel::TransformerLanguageModel(Scope s, const ModelSizes& sizes,
                                                   const TransformerOptions& options)
    : decoder_(s / "decoder", sizes.vocabulary, options, TransformerBlock::Kind::decoder) {
  if (!options.tied) {
    output_.emplace(s / "output", options.width, sizes.vocabulary, LinearOptions{.bias = false});
  }
}

Tensor TransformerLanguageModel::scores(const Sequences& ids) const {
  return output(decoder_(ids));
}

int64_t TransformerLanguageModel::longest() const {
  return decoder_.options.knows_places() ? decoder_.options.longest
                                         : std::numeric_limits<int64_t>::max();
}

class TransformerContinuation : public LanguageModel::Continuation {
 public:
  explicit TransformerContinuation(const TransformerLanguageModel& model)
      : model_(model), state_(model.decoder_.start()) {}

  Tensor step(const Tensor& ids) override {
    const Tensor rows = model_.decoder_.step(ids, state_);
    const int64_t N = ids.dim(0), m = rows.dim(0) / N, C = rows.dim(1);
    if (m == 1) return model_.output(rows);
    return model_.output(reshape(slice(reshape(rows, {N, m, C}), 1, m - 1, m), {N, C}));
  }
  void select(const Tensor& rows) override { model_.decoder_.select(state_, rows); }
  int64_t length() const override { return state_.steps; }

 private:
  const TransformerLanguageModel& model_;
  TransformerStack::State state_;
};

std::unique_ptr<LanguageModel::Continuation> TransformerLanguageModel::start() const {
  return std::make_unique<TransformerContinuation>(*this);
}

}  // namespace fovea
