#include "fovea/train/significance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/train/studentized_range.h"

namespace fovea {
namespace {

constexpr double level = 0.05;

// A variance with the degrees of freedom of its estimate.
struct Variance {
  double value = 0, degrees = 0;
};

double mean_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double variance_of(const std::vector<double>& x) {
  const double mean = mean_of(x);
  double sum = 0;
  for (const double v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size() - 1);
}

// What leaving out each example says of its share in the metric.
std::vector<double> influences_of(const std::vector<Tally>& examples,
                                  const std::function<double(const Tally&)>& metric) {
  Tally all;
  for (const Tally& one : examples) add_to(all, one);
  const double whole = metric(all);
  std::vector<double> result;
  Tally rest(all.size());
  for (const Tally& one : examples) {
    for (size_t k = 0; k < all.size(); ++k) rest[k] = all[k] - one[k];
    result.push_back((whole - metric(rest)) * static_cast<double>(examples.size() - 1));
  }
  return result;
}

// Twice the variance of one value of one choice, beside what a seed does to all choices alike: from
// all of them.
Variance pooled_seed_variance(std::span<const MeasuredChoice> choices) {
  std::vector<const std::vector<double>*> rows;
  for (const MeasuredChoice& choice : choices) {
    if (choice.values.size() > 1) rows.push_back(&choice.values);
  }
  if (rows.size() < 2) return {};
  const size_t seeds = rows[0]->size();
  for (const auto* row : rows) {
    check(row->size() == seeds, "significance: choices need the same seeds, got ", seeds, " and ",
          row->size());
  }
  const auto k = static_cast<double>(rows.size()), n = static_cast<double>(seeds - 1);
  std::vector<double> of_seed(seeds);
  for (const auto* row : rows) {
    for (size_t s = 0; s < seeds; ++s) of_seed[s] += (*row)[s] / k;
  }
  double sum = 0, squares = 0;
  for (const auto* row : rows) {
    std::vector<double> rest(seeds);
    for (size_t s = 0; s < seeds; ++s) rest[s] = (*row)[s] - of_seed[s];
    const double v = variance_of(rest);
    sum += v, squares += v * v;
  }
  if (sum == 0) return {0, n};
  return {2 * sum / (k - 1), n * (k - 1) / k * sum * sum / squares};
}

// Of the difference between the means of two choices over other seeds.
Variance seeds_part(const MeasuredChoice& a, const MeasuredChoice& b, const Variance& pooled) {
  const size_t n = a.values.size();
  std::vector<double> difference(n);
  for (size_t s = 0; s < n; ++s) difference[s] = a.values[s] - b.values[s];
  return {std::max(variance_of(difference), pooled.value) / static_cast<double>(n), pooled.degrees};
}

// Of the difference between the means of two choices over other test examples.
Variance examples_part(const MeasuredChoice& a, const MeasuredChoice& b) {
  const size_t n = a.influences.size();
  std::vector<double> difference(n);
  for (size_t i = 0; i < n; ++i) difference[i] = a.influences[i] - b.influences[i];
  return {variance_of(difference) / static_cast<double>(n), static_cast<double>(n - 1)};
}

double chance_of(double difference, const Variance& error, int64_t groups) {
  if (difference == 0) return 1;
  const double t = error.value > 0 ? difference / std::sqrt(error.value)
                                   : std::numeric_limits<double>::infinity();
  if (!std::isfinite(t)) return 0;
  return studentized_range_tail(t * std::numbers::sqrt2, groups, error.degrees);
}

Difference difference_of(const MeasuredChoice& best, const MeasuredChoice& other,
                         const Variance& pooled, int64_t groups, double sign) {
  if (best.influences.size() != other.influences.size() || other.influences.size() < 2) return {};
  const double difference = std::max(0.0, sign * (mean_of(best.values) - mean_of(other.values)));
  const Variance examples = examples_part(best, other);
  if (best.values.size() < 2 || other.values.size() < 2) {
    const bool differs = chance_of(difference, examples, groups) < level;
    return {differs ? Verdict::one_seed_differs : Verdict::one_seed_alike, {}};
  }
  Variance error = seeds_part(best, other, pooled);
  error.value += examples.value;
  const double p = chance_of(difference, error, groups);
  if (p < level) return {Verdict::worse, p};
  error.degrees = std::numeric_limits<double>::infinity();
  return {chance_of(difference, error, groups) < level ? Verdict::too_few_seeds : Verdict::tie, p};
}

}  // namespace

MeasuredChoice measure_choice(std::span<const std::vector<Tally>> tallies,
                              const std::function<double(const Tally&)>& metric) {
  check(!tallies.empty() && !tallies[0].empty(), "significance: needs a seed and an example");
  const size_t n = tallies[0].size();
  MeasuredChoice choice{{}, std::vector<double>(n)};
  for (const std::vector<Tally>& seed : tallies) {
    check(seed.size() == n, "significance: seeds need the same examples, got ", n, " and ",
          seed.size());
    Tally all;
    for (const Tally& one : seed) add_to(all, one);
    choice.values.push_back(metric(all));
    const std::vector<double> influences = influences_of(seed, metric);
    for (size_t i = 0; i < n; ++i) {
      choice.influences[i] += influences[i] / static_cast<double>(tallies.size());
    }
  }
  return choice;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::best:
      return "best";
    case Verdict::worse:
      return "worse";
    case Verdict::tie:
      return "tie";
    case Verdict::too_few_seeds:
      return "too_few_seeds";
    case Verdict::one_seed_differs:
      return "one_seed_differs";
    case Verdict::one_seed_alike:
      return "one_seed_alike";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

std::vector<Difference> differences_to_best(std::span<const MeasuredChoice> choices, size_t best,
                                            bool higher_is_better) {
  const double sign = higher_is_better ? 1 : -1;
  const Variance pooled = pooled_seed_variance(choices);
  const auto groups = static_cast<int64_t>(choices.size());
  std::vector<Difference> result;
  for (size_t i = 0; i < choices.size(); ++i) {
    result.push_back(i == best ? Difference{Verdict::best, {}}
                               : difference_of(choices[best], choices[i], pooled, groups, sign));
  }
  return result;
}

}  // namespace fovea
