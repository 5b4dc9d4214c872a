#include "fovea/check/gradient.h"

#include <cmath>
#include <limits>

#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

Tensor fixed_weights(const Shape& shape) {
  Tensor t(shape, Dtype::f64);
  Random random(4711, 77);
  for (double& x : t.write<double>()) x = 2 * random.uniform() - 1;
  return t;
}

}  // namespace

double gradient_error(const CheckedFunction& f, const std::vector<Tensor>& values,
                      const Parameters& table, const GradientCheck& how) {
  // Inputs become parameters for the time of the check: then both are moved in the same way.
  std::vector<Parameter> moved;
  std::vector<Tensor> inputs;
  std::vector<size_t> place;  // in inputs
  for (const Tensor& value : values) {
    if (value.dtype() == Dtype::i32) {
      inputs.push_back(value);
      continue;
    }
    moved.push_back(Parameter(value.to(Dtype::f64), say("input ", inputs.size())));
    place.push_back(inputs.size());
    inputs.push_back(moved.back());
  }
  const size_t of_inputs = moved.size();
  for (const Parameter& p : table.entries()) {
    check(p.dtype() == Dtype::f64, "gradient check: the table must be of float64, '", p.name(),
          "' is ", p.dtype());
    if (!p.frozen()) moved.push_back(p);
  }
  Tensor weights;
  const auto loss_of = [&] {
    for (size_t i = 0; i < of_inputs; ++i) inputs[place[i]] = moved[i];
    const Tensor y = f(inputs);
    if (weights.empty()) weights = fixed_weights(y.shape());
    return sum(y * weights);
  };
  const auto on_tape = [&](const auto& use) {
    if (!how.seed) {
      Tape tape;
      return use(tape);
    }
    Random random(*how.seed);
    Tape tape(random);
    return use(tape);
  };
  const Gradients gradients = on_tape([&](Tape& tape) { return tape.backward(loss_of()); });
  double worst = 0;
  for (const Parameter& p : moved) {
    const Tensor analytic = gradients.or_zeros(p);
    const auto a = analytic.read<double>();
    double largest = 1e-3, difference = 0;
    for (int64_t i = 0; i < p.elements(); ++i) {
      const auto at = [&](double by) {
        const double before = p.read<double>()[static_cast<size_t>(i)];
        p.write<double>()[static_cast<size_t>(i)] = before + by;
        const double loss = on_tape([&](Tape&) { return loss_of().item(); });
        p.write<double>()[static_cast<size_t>(i)] = before;
        return loss;
      };
      // Fourth order, so that a step large enough for float64 leaves no truncation error to speak
      // of.
      const double h = how.step;
      const double numeric = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      const double exact = a[static_cast<size_t>(i)];
      largest = std::max(largest, std::abs(numeric));
      difference = std::max(difference, std::abs(numeric - exact));
      if (!std::isfinite(exact) || !std::isfinite(numeric)) {
        return std::numeric_limits<double>::infinity();
      }
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

}  // namespace fovea
