#include "fovea/train/studentized_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fovea/base/error.h"

namespace fovea {
namespace {

double normal_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double power(double x, int64_t n) {  // pow() takes most of the time otherwise
  double result = 1;
  for (; n > 0; n /= 2, x *= x) {
    if (n % 2 == 1) result *= x;
  }
  return result;
}

// That `groups` normal numbers lie within w of each other: z is the largest. The sums here are
// trapezoid sums of smooth functions that fall to nothing on both sides: exact to about 1e-9 at
// these steps.
double range_below(double w, int64_t groups) {
  constexpr int points = 41;
  constexpr double step = 0.4, end = 8;
  struct Point {
    double z, below, weight;
  };
  static const auto grid = [] {
    std::array<Point, points> all{};
    for (int i = 0; i < points; ++i) {
      const double z = i * step - end;
      all[i] = {z, normal_below(z), step * std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi)};
    }
    return all;
  }();
  double sum = 0;
  for (const Point& p : grid) {
    sum += p.weight * power(p.below - (p.z - w < -8 ? 0 : normal_below(p.z - w)), groups - 1);
  }
  return std::min(1.0, sum * static_cast<double>(groups));
}

}  // namespace

double studentized_range_tail(double q, int64_t groups, double degrees) {
  check(groups >= 2 && degrees > 0, "studentized range: needs at least 2 groups and some degrees ",
        "of freedom, got ", groups, " and ", degrees);
  if (!(q > 0)) return 1;
  if (degrees > 1e5) return 1 - range_below(q, groups);
  // u is the logarithm of the estimated error over the true one: chi / sqrt(degrees).
  const double width = 1 / std::sqrt(2 * degrees), step = width / 2;
  const double log_scale =
      std::numbers::ln2 + degrees / 2 * std::log(degrees / 2) - std::lgamma(degrees / 2);
  double sum = 0;
  for (double u = -(30 / degrees + 8 * width); u <= 6 * width; u += step) {
    const double density = std::exp(log_scale + degrees * u - degrees / 2 * std::exp(2 * u));
    if (density > 1e-10) sum += density * (1 - range_below(q * std::exp(u), groups));
  }
  return std::min(1.0, sum * step);
}

}  // namespace fovea
