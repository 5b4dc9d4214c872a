#include "fovea/model/machine/stack_machine.h"

#include "fovea/attention/recorder.h"
#include "fovea/op/shape.h"

namespace fovea {

const Fields<StackMachineOptions>& stack_machine_fields() {
  using O = StackMachineOptions;
  static const Fields<O> fields(
      controller_fields(),
      {{"slot_width", &O::slot_width, "features of a slot", whole_from(1, 65536)}});
  return fields;
}

StackMachine::StackMachine(Scope s, const ModelSizes& sizes, StackKind kind,
                           const StackMachineOptions& o)
    : kind_(kind),
      options_(o),
      inputs_(sizes.inputs),
      controller_(s / "controller", sizes.inputs + NeuralStacks::reads(kind, o.slot_width), o),
      controls_(s / "controls", o.width, NeuralStacks::controls(kind, o.slot_width)),
      output_(s / "output", o.width + NeuralStacks::reads(kind, o.slot_width), sizes.outputs),
      path_(s.path()) {
  // A pop strength near 0 at first: what is pushed stays until popping is learned.
  const int64_t pushes = kind == StackKind::deque ? 2 : 1;
  with_real(controls_.bias.dtype(), [&]<class T>(T) {
    const auto bias = controls_.bias.write<T>();
    for (int64_t i = pushes; i < 2 * pushes; ++i) bias[i] = T(-1);
  });
}

StackMachine::State StackMachine::start(int64_t B, Dtype dtype) const {
  return {NeuralStacks(kind_, B, options_.slot_width),
          Tensor::zeros({B, NeuralStacks::reads(kind_, options_.slot_width)}, dtype),
          {}};
}

Tensor StackMachine::step(const Tensor& x, State& state) const {
  const Tensor h = controller_.step(concat({x, state.reads}, 1), state.controller);
  state.reads = state.stacks.step(controls_(h));
  if (Recorder* recorder = Recorder::current()) {
    // What is held at each end, by the step that pushed it.
    const int64_t B = x.dim(0), ends = kind_ == StackKind::deque ? 2 : 1;
    std::vector<float> all;
    for (int64_t b = 0; b < B; ++b) {
      const auto held = state.stacks.held(b);
      all.insert(all.end(), held.begin(), held.end());
    }
    Weights w;
    w.rows = Tensor::of({B, ends, 1, static_cast<int64_t>(all.size()) / B / ends}, all);
    recorder->keep(path_.empty() ? "held" : path_ + "/held", std::move(w));
  }
  return concat({h, state.reads}, 1);
}

Scorer::Output StackMachine::operator()(const ModelInputs& in) const {
  check_steps("neural stack", in, inputs_);
  return {output_(run_steps(*this, in.steps), in.rows)};
}

}  // namespace fovea
