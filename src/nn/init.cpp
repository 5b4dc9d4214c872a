#include "fovea/nn/init.h"

#include <cmath>
#include <vector>

namespace fovea::init {
namespace {

template <class Draw>
Init each(Draw draw) {
  return [draw](const Shape& shape, Random random) {
    Tensor t(shape, Dtype::f64);
    for (double& x : t.write<double>()) x = draw(shape, random);
    return t;
  };
}

double fan_sum(const Shape& shape) {
  if (shape.rank() < 2) return 2.0 * static_cast<double>(std::max<int64_t>(1, shape.elements()));
  const auto field = static_cast<double>(shape.product(1, shape.rank() - 1));
  return field * static_cast<double>(shape[0] + shape[-1]);
}

// Rows made orthonormal by Gram-Schmidt, twice for accuracy; needs rows <= cols.
void orthonormalise(std::vector<double>& m, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    double* row = &m[r * cols];
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t before = 0; before < r; ++before) {
        double dot = 0;
        for (int64_t i = 0; i < cols; ++i) dot += row[i] * m[before * cols + i];
        for (int64_t i = 0; i < cols; ++i) row[i] -= dot * m[before * cols + i];
      }
      double norm = 0;
      for (int64_t i = 0; i < cols; ++i) norm += row[i] * row[i];
      norm = std::sqrt(norm);
      for (int64_t i = 0; i < cols; ++i) row[i] /= norm;
    }
  }
}

}  // namespace

Init constant(double value) {
  return [value](const Shape& shape, Random) { return Tensor::full(shape, value, Dtype::f64); };
}

Init normal(double deviation, double mean) {
  return each([=](const Shape&, Random& random) { return mean + deviation * random.normal(); });
}

Init uniform(double limit) {
  return each([=](const Shape&, Random& random) { return limit * (2.0 * random.uniform() - 1); });
}

Init xavier_uniform(double gain) {
  return each([=](const Shape& shape, Random& random) {
    return gain * std::sqrt(6 / fan_sum(shape)) * (2.0 * random.uniform() - 1);
  });
}

Init xavier_normal(double gain) {
  return each([=](const Shape& shape, Random& random) {
    return gain * std::sqrt(2 / fan_sum(shape)) * random.normal();
  });
}

Init orthogonal(double gain, int64_t blocks) {
  return [=](const Shape& shape, Random random) {
    check(shape.rank() == 2 && shape[0] % blocks == 0, "orthogonal: needs a matrix of ", blocks,
          " blocks of rows, got ", shape);
    const int64_t rows = shape[0] / blocks, cols = shape[1];
    const int64_t few = std::min(rows, cols), many = std::max(rows, cols);
    Tensor t(shape, Dtype::f64);
    auto out = t.write<double>();
    for (int64_t block = 0; block < blocks; ++block) {
      std::vector<double> m(few * many);
      for (double& x : m) x = random.normal();
      orthonormalise(m, few, many);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) {
          out[(block * rows + r) * cols + c] =
              gain * (rows <= cols ? m[r * many + c] : m[c * many + r]);
        }
      }
    }
    return t;
  };
}

}  // namespace fovea::init
