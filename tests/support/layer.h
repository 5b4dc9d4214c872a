// Checks of whatever is built from a Scope, with respect to its inputs and all its parameters.
#pragma once

#include "fovea/nn/scope.h"
#include "support/gradient.h"

namespace fovea::test {

// Worst error of the gradients of a layer's inputs and parameters, as gradient_error has it.
inline double layer_error(const Parameters& table, const Function& layer,
                          const std::vector<Tensor>& inputs) {
  return gradient_error(layer, inputs, table);
}

template <class Layer>
double layer_error(Parameters& table, const Layer& layer, const Tensor& x) {
  const Function f = [&](const std::vector<Tensor>& at) { return layer(at[0]); };
  return layer_error(table, f, std::vector<Tensor>{x});
}

// Builds a layer and gives what it computes.
using Maker = std::function<Function(Scope)>;

// The output and the gradients of all inputs and parameters.
inline std::vector<Tensor> layer_results(const Maker& make, const std::vector<Tensor>& values,
                                         Dtype dtype) {
  Parameters table(1, dtype);
  const Function layer = make(table);
  std::vector<Tensor> inputs;
  for (const Tensor& x : values) {
    inputs.push_back(x.dtype() == Dtype::i32 ? x : parameter(x.to(Dtype::f32).to(dtype)));
  }
  Tape tape;
  const Tensor y = layer(inputs);
  const Gradients g = tape.backward(y, random_tensor(y.shape(), 9).to(dtype));
  std::vector<Tensor> results{y};
  for (const Tensor& x : inputs) {
    if (x.dtype() != Dtype::i32) results.push_back(g.or_zeros(x));
  }
  for (const auto& entry : table.entries()) results.push_back(g.or_zeros(entry));
  return results;
}

inline double largest(const Tensor& x) {
  double most = 0;
  const Tensor values = x.to(Dtype::f64);
  for (double value : values.read<double>()) most = std::max(most, std::abs(value));
  return most;
}

// float32 agrees with float64, forward and backward.
inline void check_float(const Maker& make, const std::vector<Tensor>& values,
                        double tolerance = 1e-5) {
  const auto fast = layer_results(make, values, Dtype::f32),
             exact = layer_results(make, values, Dtype::f64);
  double scale = 1e-3;
  for (const Tensor& x : exact) scale = std::max(scale, largest(x));
  for (size_t i = 0; i < exact.size(); ++i) {
    SCOPED_TRACE(say("result ", i));
    // A gradient that is zero, because its terms cancel, is known as well as the others are.
    const double floor = largest(exact[i]) < 1e-12 * scale ? scale : 1e-3;
    EXPECT_LE(relative_difference(fast[i], exact[i], floor), tolerance);
  }
}

// As check_float, and float64 agrees with the numeric gradient.
inline void check_layer(const Maker& make, const std::vector<Tensor>& values) {
  Parameters table(1, Dtype::f64);
  EXPECT_LT(layer_error(table, make(table), values), 1e-5);
  check_float(make, values);
}

}  // namespace fovea::test
