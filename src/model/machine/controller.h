// What drives a memory: a recurrent or a feed-forward layer that is given the input of a step and
// what was read before.
#pragma once

#include <optional>

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/recurrent.h"

namespace fovea {

struct ControllerOptions {
  std::string controller = "lstm";  // lstm, gru, feedforward
  int64_t width = 100;              // units
};
// As options of a run.
const Fields<ControllerOptions>& controller_fields();

// The layer with its weights, one of the two.
struct Controller {
  Controller(Scope s, int64_t in, const ControllerOptions& options);

  // x [B, in] gives [B, width]; the state, empty at first, moves on.
  Tensor step(const Tensor& x, RecurrentStates& state) const;

  std::optional<Recurrent> recurrent;  // lstm, gru
  std::optional<Linear> feedforward;   // with tanh behind it; it has no state
};

// Answers from what each step had, [B, F] each: a linear layer over the rows that are asked about
// (row t B + b is step t of sequence b), or all.
struct StepOutput {
  StepOutput(Scope s, int64_t in, int64_t out) : layer(s, in, out) {}
  Tensor operator()(std::span<const Tensor> features, const Tensor& asked) const;
  Linear layer;  // [n, in] -> [n, out]
};

// Step t of [T, B, in].
Tensor step_of(const Tensor& steps, int64_t t);
// An Error unless these are steps of sequences with so many numbers each.
void check_steps(const char* name, const ModelInputs& in, int64_t inputs);

// What a machine with start() and step() has at each step of [T, B, in], [B, F] each.
template <class Machine>
std::vector<Tensor> run_steps(const Machine& machine, const Tensor& steps) {
  typename Machine::State state = machine.start(steps.dim(1), steps.dtype());
  std::vector<Tensor> features;
  for (int64_t t = 0; t < steps.dim(0); ++t) {
    features.push_back(machine.step(step_of(steps, t), state));
  }
  return features;
}

}  // namespace fovea
