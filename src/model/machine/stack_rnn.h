// Stack-augmented recurrent network: Joulin, Mikolov 2015 (memory/shifting_stack.h has the stacks).
//   h_t = sigmoid(U x_t + R h_t-1 + P s_t-1[0 .. 1]),   a_t = softmax(A h_t),   push sigmoid(D h_t)
// Without R all that is remembered is on the stacks; the paper counts better so.
#pragma once

#include "fovea/base/fields.h"
#include "fovea/model/machine/controller.h"

namespace fovea {

struct StackRnnOptions {
  int64_t width = 40;      // units of h
  int64_t stacks = 10;     // side by side, each with actions of its own
  int64_t depth = 200;     // cells that a stack keeps
  bool recurrent = false;  // R
  bool round = true;       // when it does not train, the likeliest action is done entirely
};
// As options of a run.
const Fields<StackRnnOptions>& stack_rnn_fields();

// The network with its weights.
class StackRnn : public Scorer {
 public:
  StackRnn(Scope s, const ModelSizes& sizes, const StackRnnOptions& options);
  Output operator()(const ModelInputs& in) const override;

  // What it is between two steps; empty before the first.
  struct State {
    Tensor h, cells;  // [B, width], [B, stacks, depth so far]
  };
  // The next h.
  Tensor step(const Tensor& x, State& state) const;

 private:
  StackRnnOptions options_;
  int64_t inputs_;
  Linear in_, from_stack_, actions_, pushed_;
  std::optional<Linear> from_hidden_;
  StepOutput output_;
  std::string path_;
};

}  // namespace fovea
