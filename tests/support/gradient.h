// Numeric gradient checks in float64.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"
#include "fovea/op/tape.h"

namespace fovea::test {

// Uniform in [low, high), as the type asks.
inline Tensor random_tensor(const Shape& shape, uint64_t seed, double low = -1, double high = 1,
                            Dtype dtype = Dtype::f64) {
  Tensor t(shape, Dtype::f64);
  Random random(seed, 77);
  for (double& x : t.write<double>()) x = low + (high - low) * random.uniform();
  return t.to(dtype);
}

// Ids in [0, n).
inline Tensor random_ids(const Shape& shape, uint64_t seed, int64_t n) {
  Tensor t(shape, Dtype::i32);
  Random random(seed, 78);
  for (int32_t& x : t.write<int32_t>()) x = static_cast<int32_t>(random.below(n));
  return t;
}

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Worst |analytic - numeric| over all inputs, relative to the largest gradient of that input. The
// output is weighted by fixed random numbers, so that no error can hide in a sum.
inline double gradient_error(const Function& f, const std::vector<Tensor>& values,
                             double step = 1e-4) {
  std::vector<Tensor> inputs;
  for (const Tensor& value : values) {
    inputs.push_back(value.dtype() == Dtype::i32 ? value : parameter(value.to(Dtype::f64)));
  }
  Tensor weights;
  auto loss_of = [&](const std::vector<Tensor>& at) {
    const Tensor y = f(at);
    if (weights.empty()) weights = random_tensor(y.shape(), 4711);
    return sum(y * weights);
  };
  Gradients gradients;
  {
    Tape tape;
    gradients = tape.backward(loss_of(inputs));
  }
  double worst = 0;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].dtype() == Dtype::i32) continue;
    const Tensor analytic = gradients[inputs[k]];
    const auto a = analytic.read<double>();
    double largest = 1e-3, difference = 0;
    for (int64_t i = 0; i < inputs[k].elements(); ++i) {
      auto moved = [&](double by) {
        std::vector<Tensor> at = inputs;
        at[k].write<double>()[i] += by;
        return loss_of(at).item();
      };
      // Fourth order, so that a step large enough for float64 leaves no truncation error to speak
      // of.
      const double numeric =
          (8 * (moved(step) - moved(-step)) - (moved(2 * step) - moved(-2 * step))) / (12 * step);
      largest = std::max(largest, std::abs(numeric));
      difference = std::max(difference, std::abs(numeric - a[i]));
      if (!std::isfinite(a[i]) || !std::isfinite(numeric)) return INFINITY;
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}

inline void check_gradients(const Function& f, const std::vector<Tensor>& values,
                            double tolerance = 1e-5) {
  EXPECT_LT(gradient_error(f, values), tolerance);
}

// Worst |a - b| relative to the largest of b (at least `floor`).
inline double relative_difference(const Tensor& a, const Tensor& b, double floor = 1e-3) {
  EXPECT_EQ(a.shape(), b.shape());
  if (a.shape() != b.shape()) return INFINITY;
  const Tensor x = a.to(Dtype::f64), y = b.to(Dtype::f64);
  double worst = 0, largest = floor;
  for (int64_t i = 0; i < x.elements(); ++i) {
    const double p = x.read<double>()[i], q = y.read<double>()[i];
    if (p == q) continue;  // also when both are the same infinity
    if (!std::isfinite(p) || !std::isfinite(q)) return INFINITY;
    worst = std::max(worst, std::abs(p - q));
    largest = std::max(largest, std::abs(q));
  }
  return worst / largest;
}

inline void expect_close(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  EXPECT_LE(relative_difference(a, b), tolerance);
}

inline void expect_same_bits(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const auto x = a.bytes(), y = b.bytes();
  EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin(), y.end()));
}

}  // namespace fovea::test
