#include "fovea/model/machine/controller.h"

#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/shape.h"

namespace fovea {

const Fields<ControllerOptions>& controller_fields() {
  using O = ControllerOptions;
  static const Fields<O> fields{{"controller", &O::controller, "what drives the memory",
                                 one_of({"lstm", "gru", "feedforward"})},
                                {"width", &O::width, "units of a layer", whole_from(1, 65536)}};
  return fields;
}

Controller::Controller(Scope s, int64_t in, const ControllerOptions& o) {
  if (o.controller == "feedforward") {
    feedforward.emplace(s, in, o.width);
  } else {
    recurrent.emplace(s, in, o.width,
                      RecurrentOptions{.cell = o.controller == "gru" ? Cell::gru : Cell::lstm});
  }
}

Tensor Controller::step(const Tensor& x, RecurrentStates& state) const {
  return recurrent ? recurrent->step(x, state) : tanh((*feedforward)(x));
}

Tensor StepOutput::operator()(std::span<const Tensor> features, const Tensor& asked) const {
  const Tensor rows = concat(features, 0);
  return layer(asked.empty() ? rows : embedding(rows, asked));
}

Tensor step_of(const Tensor& steps, int64_t t) {
  return slice(steps, 0, t, t + 1).reshaped({steps.dim(1), steps.dim(2)});
}

void check_steps(const char* name, const ModelInputs& in, int64_t inputs) {
  check(!in.steps.empty() && in.steps.rank() == 3 && in.steps.dim(2) == inputs, name,
        ": needs steps [T, B, ", inputs, "]",
        in.steps.empty() ? std::string() : say(", got ", in.steps.shape()));
}

}  // namespace fovea
