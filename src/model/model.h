// What a model is to tasks: built from a Scope, given a batch, asked for answers. Training or not
// is the tape's to say (op/tape.h).
#pragma once

#include <memory>

#include "fovea/model/inputs.h"
#include "fovea/op/tape.h"

namespace fovea {

class Model {
 public:
  virtual ~Model() = default;
};

// A model whose answer is a row of scores: for a label, for each token's label, for hidden tokens,
// or one number.
class Scorer : public Model {
 public:
  struct Output {
    Tensor scores;             // [n, classes]: of examples, or of tokens
    Tensor log_probability{};  // [n]: of what a drawing alignment drew; else empty
  };
  virtual Output operator()(const ModelInputs& in) const = 0;

  // What training makes small. By default the mean cross-entropy of the scores, with the REINFORCE
  // term where something was drawn; targets is int32 [n].
  virtual Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const;
};

// Mean cross-entropy of scores [n, C]. Where an alignment drew (log_probability [n] is given), the
// REINFORCE term is added: what was drawn becomes likelier where the loss was below the mean of the
// batch, which is the baseline (Williams 1992).
Tensor classification_loss(const Tensor& scores, const Tensor& targets, double smoothing,
                           const Tensor& log_probability = {});

// A model of text that says which token comes next.
class LanguageModel : public Model {
 public:
  // For the token that follows each row: [rows, vocabulary], packed.
  virtual Tensor scores(const Sequences& ids) const = 0;

  // Texts that are continued, a token at a time.
  class Continuation {
   public:
    virtual ~Continuation() = default;
    // The next token of each of B texts, int32 [B], or the next m, [B, m], as for a prompt. Gives
    // scores of the token after the last of them: [B, vocabulary].
    virtual Tensor step(const Tensor& ids) = 0;
    // Text i goes on from what text rows[i] was (int32); also more or fewer texts than before.
    virtual void select(const Tensor& rows) = 0;
    virtual int64_t length() const = 0;
  };
  // The model must outlive it.
  virtual std::unique_ptr<Continuation> start() const = 0;
  // Tokens that it can look back on; int64 max: any number.
  virtual int64_t longest() const = 0;
};

}  // namespace fovea
