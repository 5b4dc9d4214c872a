// Numeric gradient checks in float64.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "fovea/base/random.h"
#include "fovea/check/gradient.h"
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

using Function = CheckedFunction;

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
