// Neural stack, queue and deque: Grefenstette, Hermann, Suleyman, Blunsom, "Learning to Transduce
// with Unbounded Memory", 2015. Values are pushed with a strength d and popped with a strength u,
// both in (0, 1), and a read takes strengths of 1 from an end, so that all is differentiable:
//   stack: pops, pushes and reads at the top     queue: pushes at the top, pops and reads at the
//   bottom     deque: both ends do all three, the top first
#pragma once

#include <memory>

#include "fovea/op/tape.h"

namespace fovea {

// Which ends are popped, pushed and read.
enum class StackKind { stack, queue, deque };

// B of them side by side, of one kind, whose values have `width` features.
class NeuralStacks {
 public:
  NeuralStacks(StackKind kind, int64_t B, int64_t width);

  // Features of what a step is told and gives: for each end that is pushed to its d, then for each
  // that is popped its u, then the values; and what is read at each end.
  static int64_t controls(StackKind kind, int64_t width) {
    return kind == StackKind::deque ? 4 + 2 * width : 2 + width;
  }
  static int64_t reads(StackKind kind, int64_t width) {
    return kind == StackKind::deque ? 2 * width : width;
  }

  // One step of all B: pop, push, read. controls [B, controls()]: d and u before their sigmoid,
  // values before their tanh; gives [B, reads()]. Values of real d, u and v, without either, are
  // given with `squash` off.
  Tensor step(const Tensor& controls, bool squash = true);

  // The strengths that sequence b's stack holds now, by the step that pushed them: [steps], and for
  // a deque those of the bottom behind them.
  std::vector<float> held(int64_t b) const;
  int64_t steps() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  Tensor last_;  // what was read, which the next step's adjoint must come before
};

}  // namespace fovea
