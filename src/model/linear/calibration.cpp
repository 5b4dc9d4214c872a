#include "fovea/model/linear/calibration.h"

#include <algorithm>
#include <cmath>

namespace fovea {

double mean_surprise(const std::vector<Tensor>& scores, const std::vector<double>& factors,
                     const Tensor& targets) {
  check(!scores.empty() && scores.size() == factors.size(), "calibration: needs a factor for each");
  const int64_t n = scores[0].dim(0), classes = scores[0].dim(1);
  const auto wanted = targets.read<int32_t>();
  std::vector<double> row(static_cast<size_t>(classes));
  double sum = 0;
  int64_t counted = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (wanted[i] < 0) continue;
    std::ranges::fill(row, 0);
    for (size_t k = 0; k < scores.size(); ++k) {
      const float* from = scores[k].read().data() + i * classes;
      for (int64_t c = 0; c < classes; ++c) row[c] += factors[k] * static_cast<double>(from[c]);
    }
    const double top = std::ranges::max(row);
    double mass = 0;
    for (double s : row) mass += std::exp(s - top);
    sum += top + std::log(mass) - row[wanted[i]];
    ++counted;
  }
  return counted > 0 ? sum / static_cast<double>(counted) : 0;
}

double best_factor(const Tensor& scores, const Tensor& targets) {
  // Convex in the factor, so that narrowing the interval finds it.
  double low = std::log(1.0 / 64), high = std::log(64.0);
  const double golden = (std::sqrt(5.0) - 1) / 2;
  const auto at = [&](double x) { return mean_surprise({scores}, {std::exp(x)}, targets); };
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = at(a), at_b = at(b);
  while (high - low > 0.02) {
    if (at_a < at_b) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low), at_a = at(a);
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low), at_b = at(b);
    }
  }
  return std::exp((low + high) / 2);
}

double share_right(const Tensor& scores, const Tensor& targets) {
  const int64_t n = scores.dim(0), classes = scores.dim(1);
  const auto wanted = targets.read<int32_t>();
  int64_t right = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto row = scores.read().subspan(i * classes, classes);
    right += std::ranges::max_element(row) - row.begin() == wanted[i];
  }
  return n > 0 ? static_cast<double>(right) / static_cast<double>(n) : 0;
}

}  // namespace fovea
