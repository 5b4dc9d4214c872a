// Numeric gradient checks, for whatever is made of ops: scores, alignments, layers, models of one's
// own. Needs no test framework.
//
//   Parameters table(1, Dtype::f64);
//   Mine layer(table, 4, 5);
//   const double error = gradient_error([&](auto& x) { return layer(x[0]); }, {x}, table);
//   // below 1e-5 when the adjoint is right
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "fovea/nn/scope.h"
#include "fovea/op/tape.h"

namespace fovea {

// What is checked: any function of arrays that is made of ops.
using CheckedFunction = std::function<Tensor(const std::vector<Tensor>& inputs)>;

struct GradientCheck {
  // The unit of the numeric gradient: each element is moved up and down by one and by two of it.
  double step = 1e-4;
  // What is dropped or drawn while training is checked with this seed; none: nothing is.
  std::optional<uint64_t> seed{};
};

// Worst |analytic - numeric| over all inputs and all parameters of the table, relative to the
// largest gradient of each. In float64: inputs are converted, the table must be of that type. Ids
// (int32) among the inputs are left alone. The output is weighted by fixed random numbers, so that
// no error can hide in a sum. Infinity when a gradient is not finite.
double gradient_error(const CheckedFunction& f, const std::vector<Tensor>& inputs,
                      const Parameters& table = Parameters(), const GradientCheck& how = {});

}  // namespace fovea
