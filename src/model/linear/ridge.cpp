#include "fovea/model/linear/ridge.h"

#include <numeric>

#include "fovea/base/parallel.h"

namespace fovea {
namespace {

using Numbers = std::vector<double>;

// The rows with a last feature that is 1 everywhere.
class Rows {
 public:
  Rows(const SparseRows& rows, int64_t features)
      : offsets_(rows.offsets.read<int32_t>()),
        ids_(rows.ids.read<int32_t>()),
        values_(rows.values.read()),
        unknowns_(static_cast<size_t>(features) + 1) {}

  // w . x + b of every row.
  Numbers times(const Numbers& w) const {
    Numbers sums(offsets_.size() - 1);
    parallel_for(static_cast<int64_t>(sums.size()), 256, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        double sum = w.back();
        for (int32_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
          sum += w[static_cast<size_t>(ids_[k])] * static_cast<double>(values_[k]);
        }
        sums[static_cast<size_t>(i)] = sum;
      }
    });
    return sums;
  }
  // The sum of all rows, each times its number; with `squared` of the squares of their elements.
  Numbers summed(const Numbers& times, bool squared = false) const {
    Numbers sums(unknowns_, 0);
    for (size_t i = 0; i < times.size(); ++i) {
      for (int32_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
        const auto x = static_cast<double>(values_[k]);
        sums[static_cast<size_t>(ids_[k])] += times[i] * (squared ? x * x : x);
      }
      sums.back() += times[i];
    }
    return sums;
  }

 private:
  std::span<const int32_t> offsets_, ids_;
  std::span<const float> values_;
  size_t unknowns_;
};

// Of all but the last, which costs nothing.
double squares_of_weights(const Numbers& w) {
  return std::inner_product(w.begin(), w.end() - 1, w.begin(), 0.0);
}
double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
// a += times b
void add_to(Numbers& a, double times, const Numbers& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += times * b[i];
}

}  // namespace

RidgeFit fit_ridge(const SparseRows& sparse, int64_t features, std::span<const float> targets,
                   const RidgeOptions& options, std::vector<double> start,
                   const std::function<bool()>& stop) {
  check(sparse.count() == static_cast<int64_t>(targets.size()), "ridge: ", sparse.count(),
        " rows, but ", targets.size(), " numbers");
  check(options.cost > 0, "ridge: the cost must be above 0, got ", options.cost);
  const Rows rows(sparse, features);
  const double penalty = 0.5 / options.cost;
  const Numbers wanted(targets.begin(), targets.end());
  // Down the gradient, over 2 C.
  const auto descent = [&](const Numbers& errors, const Numbers& w) {
    Numbers down = rows.summed(errors);
    for (size_t f = 0; f + 1 < w.size(); ++f) down[f] -= penalty * w[f];
    return down;
  };
  Numbers curvature = rows.summed(Numbers(wanted.size(), 1), /*squared=*/true);
  for (size_t f = 0; f + 1 < curvature.size(); ++f) curvature[f] += penalty;
  const auto scaled = [&](Numbers down) {
    for (size_t f = 0; f < down.size(); ++f) down[f] /= curvature[f];
    return down;
  };

  RidgeFit fit{std::move(start), 0};
  fit.weight.resize(static_cast<size_t>(features) + 1, 0);
  Numbers errors = wanted;
  add_to(errors, -1, rows.times(fit.weight));
  const Numbers at_zero = rows.summed(wanted);
  Numbers down = descent(errors, fit.weight), direction = scaled(down);
  double gain = dot(down, direction);
  const double enough = options.tolerance * options.tolerance * dot(at_zero, scaled(at_zero));
  for (; fit.rounds < options.rounds && gain > enough; ++fit.rounds) {
    if (stop && stop()) break;
    const Numbers moved = rows.times(direction);
    const double step = gain / (dot(moved, moved) + penalty * squares_of_weights(direction));
    add_to(fit.weight, step, direction);
    add_to(errors, -step, moved);
    down = descent(errors, fit.weight);
    Numbers next = scaled(down);
    const double before = gain;
    gain = dot(down, next);
    add_to(next, gain / before, direction);
    direction = std::move(next);
  }
  return fit;
}

}  // namespace fovea
