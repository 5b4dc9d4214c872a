// Turns gradients into new parameter values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/nn/scope.h"
#include "fovea/op/tape.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {

// The rules step as those of PyTorch do:
//   adam      Kingma and Ba 2014; weight decay as an L2 penalty in the gradient
//   adamw     Loshchilov and Hutter 2017: Adam with the decay applied to the weights themselves
//   sgd       with momentum, no dampening
//   adadelta  Zeiler 2012; its own rate is 1 and its eps 1e-6
//   rmsprop   Hinton 2012; centred: Graves 2013; its smoothing constant is rho, 0.99 in PyTorch
// All but adamw decay weights through the gradient.
struct OptimizerOptions {
  std::string kind = "adam";          // one of the names above
  double rate = 1e-3;                 // of learning, before a schedule's factor
  double beta1 = 0.9, beta2 = 0.999;  // adam, adamw
  double eps = 1e-8;                  // all but sgd
  double momentum = 0.9;              // sgd
  double rho = 0.95;                  // adadelta, rmsprop
  bool centred = false;               // rmsprop: the mean gradient is taken off
  double weight_decay = 0;            // how strongly weights are drawn to 0
};

// Some numbers of a parameter, which follow each other.
struct ParameterSlice {
  Parameter parameter;   // that they belong to
  int64_t begin, count;  // its elements [begin, begin + count), row by row
};

// A rule, and what it remembers of the parameters it steps.
class Optimizer {
 public:
  virtual ~Optimizer();

  // One step at rate * factor; schedules give the factor. A parameter without a gradient stays.
  virtual void step(const Gradients& gradients, double factor = 1) = 0;

  // What must survive a restart: the number of steps as "steps", and arrays named
  // "<array>/<parameter>".
  virtual std::vector<NamedTensor> state() const = 0;
  // Takes the state back from a file that may hold other arrays too. An Error, and nothing changed,
  // when an array is missing or has another shape or type.
  virtual void restore(const Safetensors& from) = 0;

  // Of one that was made for slices: the same step, from a gradient for each of them; an empty one
  // leaves its slice as it is.
  virtual void step_slices(std::span<const std::span<const float>> gradients, double factor) = 0;
  // What it remembers: for each slice, or parameter, its arrays one after the other.
  virtual std::span<const Tensor> arrays() const = 0;
  // The names of the arrays, as in "<array>/<parameter>".
  virtual const std::vector<std::string>& array_names() const = 0;
};

// Parameters whose names begin with `prefix`, and how their steps differ from the others'.
struct ParameterGroup {
  std::string prefix;                 // of the parameters' paths; "" fits all
  double rate = 1, weight_decay = 1;  // times those of the options
};

// Steps the table's parameters; all of them must have been made before. Frozen ones stay as they
// are. Of several groups that fit a parameter the last one counts.
std::unique_ptr<Optimizer> make_optimizer(const Parameters& parameters,
                                          const OptimizerOptions& options,
                                          const std::vector<ParameterGroup>& groups = {});
// Steps these slices of the table's parameters alone, and remembers nothing of the others. What it
// restores is the state of whole parameters.
std::unique_ptr<Optimizer> make_optimizer(const Parameters& parameters,
                                          std::vector<ParameterSlice> slices,
                                          const OptimizerOptions& options,
                                          const std::vector<ParameterGroup>& groups = {});

// Length of all gradients together, as one vector.
double gradient_norm(const Parameters& parameters, const Gradients& gradients);
// Scales the gradients so that their norm is at most `limit`; returns what it was.
double clip_by_norm(const Parameters& parameters, Gradients& gradients, double limit);

}  // namespace fovea
