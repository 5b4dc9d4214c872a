// Neural random-access machine: Kurach, Andrychowicz, Sutskever 2016. Registers and memory cells
// hold distributions over 0 .. M - 1. In each step a controller, which sees of the registers only
// how likely each is 0, wires fourteen modules: each takes its arguments from registers and the
// modules before it, and each register takes its next value from registers and modules.
//   read(p) = sum_i p_i M_i,   write(p, a): M_i <- (1 - p_i) M_i + p_i a
//   zero, one, two, inc, add, sub, dec, less, less or equal, equal, min, max
// It stops with a probability at each step; the loss is the expectation over when.
//   L = - sum_t p_t sum_i log M_t[i, y_i]
// As it never sees a number itself, what it learned on few cells works on more.
#pragma once

#include "fovea/base/fields.h"
#include "fovea/model/model.h"
#include "fovea/nn/linear.h"

namespace fovea {

struct RandomAccessOptions {
  int64_t registers = 6;      // all hold 0 at first
  int64_t width = 32;         // units of the controller's hidden layer
  int64_t machine_steps = 0;  // most steps of a run; 0: two and so many for each cell,
  double cell_steps = 1;      // so that more cells get more of them
  double noise = 0.1;         // of the wiring while training, at first
  double entropy = 0.01;      // bonus for wiring that is undecided, at first
  int64_t settle = 10;        // epochs in which both fade to a hundredth
  double decide = 1;   // noise of the wiring in the end: only choices that are sure survive it
  double sharpen = 0;  // what undecided wiring costs in the end: a mixture that answers well
                       // at trained sizes does not at others; it rises in `settle` epochs
                       // behind those
};
// As options of a run.
const Fields<RandomAccessOptions>& random_access_fields();

// The machine; only its controller has weights.
class RandomAccessMachine : public Scorer {
 public:
  RandomAccessMachine(Scope s, const ModelSizes& sizes, const RandomAccessOptions& options);

  // Log-probabilities of the numbers in the cells that are asked for, expected over when it stops.
  Output operator()(const ModelInputs& in) const override;
  Tensor loss(const ModelInputs& in, const Tensor& targets, double smoothing) const override;

 private:
  struct Run;
  Run run(const ModelInputs& in) const;

  RandomAccessOptions options_;
  int64_t numbers_;  // symbols of the data
  Linear hidden_, wiring_;
};

// One of the modules that a step wires.
struct MachineModule {
  const char* name;  // read, zero, ..., write
  int arguments;     // how many it takes: 0, 1 or 2
};
// All fourteen, in the order in which they run.
std::span<const MachineModule> machine_modules();

}  // namespace fovea
