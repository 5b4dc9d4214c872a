// Turns gradients into new parameter values.
#pragma once

#include <vector>

#include "fovea/nn/scope.h"
#include "fovea/op/tape.h"

namespace fovea {

// Adam: Kingma and Ba 2014; a weight decay makes it AdamW (Loshchilov and Hutter 2017).
class Adam {
 public:
  struct Options {
    double rate = 1e-3;
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double weight_decay = 0;
  };
  Adam(Parameters& parameters, const Options& options);

  // One step at rate * factor; schedules give the factor.
  void step(const Gradients& gradients, double factor = 1);

 private:
  Parameters& parameters_;
  Options options_;
  int64_t steps_ = 0;
  std::vector<Tensor> m_, v_;  // in the order of the table
};

// Length of all gradients together, as one vector.
double gradient_norm(const Parameters& parameters, const Gradients& gradients);
// Scales the gradients so that their norm is at most `limit`; returns what it was.
double clip_by_norm(const Parameters& parameters, Gradients& gradients, double limit);

}  // namespace fovea
