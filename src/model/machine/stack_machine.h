// A controller with a neural stack, queue or deque (Grefenstette et al. 2015; memory/stack.h).
//   h_t = controller(x_t, r_t-1),   r_t = stack_step(W_c h_t),   y_t = W_o [h_t; r_t]
#pragma once

#include "fovea/memory/stack.h"
#include "fovea/model/machine/controller.h"

namespace fovea {

struct StackMachineOptions : ControllerOptions {
  int64_t slot_width = 64;  // features of a value
};
// As options of a run.
const Fields<StackMachineOptions>& stack_machine_fields();

// The machine with its weights; `kind` says which ends it pushes, pops and reads at.
class StackMachine : public Scorer {
 public:
  StackMachine(Scope s, const ModelSizes& sizes, StackKind kind,
               const StackMachineOptions& options);

  Output operator()(const ModelInputs& in) const override;

  // Steps one at a time: what it is between two of them.
  struct State {
    NeuralStacks stacks;         // one for each sequence
    Tensor reads;                // [B, slot_width], of a deque twice as wide: what was read last
    RecurrentStates controller;  // the controller's own; empty at first
  };
  // Before the first step: nothing is pushed or read yet.
  State start(int64_t B, Dtype dtype) const;
  // What the answer of a step is made of, h_t and r_t side by side; x is [B, inputs].
  Tensor step(const Tensor& x, State& state) const;

 private:
  StackKind kind_;
  StackMachineOptions options_;
  int64_t inputs_;
  Controller controller_;
  Linear controls_;
  StepOutput output_;
  std::string path_;
};

}  // namespace fovea
