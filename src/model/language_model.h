// A decoder alone, that says which token comes next: Radford et al., "Improving Language
// Understanding by Generative Pre-Training", 2018. With pre-norm, learned positions, gelu_tanh and
// embeddings that are not scaled it is GPT-2.
#pragma once

#include "fovea/model/transformer_stack.h"
#include "fovea/nn/linear.h"

namespace fovea {

class LanguageModel {
 public:
  // Paths: decoder/..., and unless tied output/weight.
  LanguageModel(Parameters& table, int64_t vocabulary, const TransformerOptions& options);

  // For the token that follows each row: [rows, vocabulary], packed.
  Tensor scores(const Sequences& ids, Random* random) const;

  // Text that is continued: keys and values are kept, so a token costs as much as it looks back.
  class Continuation {
   public:
    explicit Continuation(const LanguageModel& model)
        : model_(model), state_(model.decoder_.start()) {}
    // The next token of each of B texts, int32 [B], or the next m, [B, m], as for a prompt. Gives
    // scores of the token after the last of them: [B, vocabulary].
    Tensor step(const Tensor& ids);
    // Text i goes on from what text rows[i] was (int32); also more or fewer texts than before.
    void select(const Tensor& rows) { model_.decoder_.select(state_, rows); }
    int64_t length() const { return state_.steps; }

   private:
    const LanguageModel& model_;
    TransformerStack::State state_;
  };

  // Tokens that it can look back on: with learned positions as many as there are, else no limit
  // (int64 max).
  int64_t longest() const;

 private:
  Tensor output(const Tensor& rows) const {
    return output_ ? (*output_)(rows) : decoder_.scores(rows);
  }

  TransformerStack decoder_;
  std::optional<Linear> output_;
};

}  // namespace fovea
