// What a model is to tasks: built from a Scope, given a batch, asked for answers. Training or not
// is the tape's to say (op/tape.h).
#pragma once

#include <memory>
#include <span>

#include "fovea/base/fitting.h"
#include "fovea/model/inputs.h"
#include "fovea/op/tape.h"

namespace fovea {

// The network of a model; a trained folder, which also knows its words, is a Model.
class Network {
 public:
  virtual ~Network() = default;
};

// A model whose answer is a row of scores: for a label, for each token's label, for hidden tokens,
// or one number.
class Scorer : public Network {
 public:
  // What a call gives.
  struct Output {
    Tensor scores;             // [n, classes]: of examples, or of tokens
    Tensor log_probability{};  // [n]: of what a drawing alignment drew; else empty
  };
  virtual Output operator()(const ModelInputs& in) const = 0;

  // What it says in the end: of each row the label and how likely each one is.
  struct Answer {
    Tensor labels;  // int32 [n]
    Tensor likely;  // [n, classes]: log-probabilities
  };
  // By default the label of the greatest score and the softmax of the scores.
  virtual Answer answer(const ModelInputs& in) const;

  // What training makes small. By default the mean cross-entropy of the scores, with the REINFORCE
  // term where something was drawn; targets is int32 [n].
  virtual Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const;
};

// What a model has that is fitted: it looks at all examples and then has its weights, or those with
// which steps of training begin.
class Fitted {
 public:
  // Examples with their answers.
  struct Examples {
    ModelInputs inputs;  // all of them as one batch
    Tensor targets;      // int32 [n]: labels or tokens; numbers [n, 1]
  };
  virtual ~Fitted() = default;
  // What has to be chosen, as how much weights cost, is chosen on `dev`.
  virtual FitChoice fit(const Examples& train, const Examples& dev,
                        const FitLimits& limits) const = 0;
  // Once all is chosen: fits the same again to `all` examples, those that it was chosen on among
  // them. Whether it did.
  virtual bool refit(const Examples& all, const FitChoice& choice) const {
    (void)all, (void)choice;
    return false;
  }
  // Whether steps of training follow.
  virtual bool goes_on() const { return false; }
  // Before each validation, where steps go on: what is chosen on its examples, which come in
  // batches.
  virtual void tune(const std::vector<Examples>& dev) const { (void)dev; }
};

// The mean of what each of n examples costs. Where an alignment drew (log_probability [n] is
// given), the REINFORCE term is added: what was drawn becomes likelier where the loss was below the
// mean of the batch, which is the baseline (Williams 1992).
Tensor mean_with_reinforce(const Tensor& each, const Tensor& log_probability);

// Mean cross-entropy of scores [n, C], with that term where an alignment drew.
Tensor classification_loss(const Tensor& scores, const Tensor& targets, double smoothing,
                           const Tensor& log_probability = {});

// Mean squared error of numbers [n, 1], with the same term where an alignment drew.
Tensor regression_loss(const Tensor& scores, const Tensor& targets,
                       const Tensor& log_probability = {});

// A model of text that says which token comes next.
class LanguageModel : public Network {
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
    // How many tokens each text has so far.
    virtual int64_t length() const = 0;
  };
  // The model must outlive it.
  virtual std::unique_ptr<Continuation> start() const = 0;
  // Tokens that it can look back on; int64 max: any number.
  virtual int64_t longest() const = 0;
};

// A language model that has nothing but the text it learned from.
class CountsText {
 public:
  virtual ~CountsText() = default;
  // Takes in all of the text, in the place of any other before; it must come first.
  virtual void count(std::span<const int32_t> text) const = 0;
};

}  // namespace fovea
