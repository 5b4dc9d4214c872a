#include "fovea/model/linear/coordinate_descent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/base/parallel.h"
#include "fovea/base/random.h"

namespace fovea {

LinearFit fit_two_classes(const SparseRows& rows, int64_t features,
                          const std::vector<char>& is_first, const DescentOptions& options,
                          std::vector<double> start, const std::function<bool()>& stop) {
  const auto n = static_cast<size_t>(rows.count());
  check(is_first.size() == n, "coordinate descent: ", n, " rows, but ", is_first.size(), " labels");
  check(options.cost > 0, "coordinate descent: the cost must be above 0, got ", options.cost);
  const auto offsets = rows.offsets.read<int32_t>();
  const auto ids = rows.ids.read<int32_t>();
  const auto values = rows.values.read();
  LinearFit fit;
  fit.dual = std::move(start);
  fit.dual.resize(n, 0);
  fit.weight.assign(static_cast<size_t>(features) + 1, 0);
  std::vector<double>& w = fit.weight;
  const auto add = [&](size_t i, double step) {
    for (int32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      w[static_cast<size_t>(ids[k])] += step * static_cast<double>(values[k]);
    }
    w.back() += step;
  };
  const double diagonal = 0.5 / options.cost;
  std::vector<double> curvature(n);
  for (size_t i = 0; i < n; ++i) {
    double squares = 1 + diagonal;
    for (int32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      squares += static_cast<double>(values[k]) * static_cast<double>(values[k]);
    }
    curvature[i] = squares;
    if (fit.dual[i] > 0) add(i, is_first[i] ? fit.dual[i] : -fit.dual[i]);
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  // Examples that are right by far stay so for a while: they are left out until all others are
  // settled, and then looked at once more.
  constexpr double infinite = std::numeric_limits<double>::infinity();
  size_t active = n;
  double out_of_reach = infinite;
  for (; fit.rounds < options.rounds; ++fit.rounds) {
    if (stop && stop()) break;
    Random random = Random(0).fork("descent").fork(static_cast<uint64_t>(fit.rounds));
    for (size_t i = active; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    double greatest = -infinite, least = infinite;
    for (size_t s = 0; s < active; ++s) {
      const size_t i = order[s];
      const double y = is_first[i] ? 1 : -1;
      double score = w.back();
      for (int32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        score += w[static_cast<size_t>(ids[k])] * static_cast<double>(values[k]);
      }
      const double gradient = y * score - 1 + diagonal * fit.dual[i];
      if (fit.dual[i] == 0 && gradient > out_of_reach) {
        std::swap(order[s--], order[--active]);
        continue;
      }
      const double projected = fit.dual[i] > 0 ? gradient : std::min(gradient, 0.0);
      greatest = std::max(greatest, projected), least = std::min(least, projected);
      if (std::abs(projected) < 1e-12) continue;
      const double before = fit.dual[i];
      fit.dual[i] = std::max(before - gradient / curvature[i], 0.0);
      add(i, (fit.dual[i] - before) * y);
    }
    out_of_reach = greatest > 0 ? greatest : infinite;
    if (greatest - least >= options.tolerance) continue;
    if (active == n) break;
    active = n, out_of_reach = infinite;
  }
  return fit;
}

Tensor sparse_linear(const SparseRows& rows, const Tensor& weight, const Tensor& bias) {
  const int64_t n = rows.count(), classes = weight.dim(1);
  Tensor scores({n, classes}, Dtype::f32);
  const auto offsets = rows.offsets.read<int32_t>();
  const auto ids = rows.ids.read<int32_t>();
  const auto values = rows.values.read();
  const float* w = weight.read().data();
  const float* b = bias.read().data();
  float* out = scores.write().data();
  parallel_for(n, 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* to = out + i * classes;
      std::copy(b, b + classes, to);
      for (int32_t k = offsets[i]; k < offsets[i + 1]; ++k) {
        const float* row = w + ids[k] * classes;
        for (int64_t c = 0; c < classes; ++c) to[c] += values[k] * row[c];
      }
    }
  });
  return scores;
}

}  // namespace fovea
