#include "fovea/task/fit/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

namespace fovea {
namespace {

constexpr double deviations = 1.96;  // that 95 % of a normal distribution lie within

// Metrics that count what is right, or wrong, of what was asked.
constexpr std::string_view shares[] = {
    "accuracy",       "token_accuracy", "exact_match", "alignment", "entity_precision",
    "entity_recall",  "right_answers",  "answer_em",   "sequences", "wrong_bits",
    "precision_at_1", "hits_at_10",     "pointing"};
// Others from 0 to 1.
constexpr std::string_view to_one[] = {"entity_f1", "macro_f1", "answer_f1", "map",
                                       "mrr",       "prefix",   "auc"};

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// What the metric cannot go beyond.
Interval ends_of(std::string_view metric) {
  constexpr double none = std::numeric_limits<double>::infinity();
  if (is_in(shares, metric) || is_in(to_one, metric)) return {0, 1};
  if (metric.starts_with("bleu")) return {0, 100};
  if (metric == "cider_d") return {0, 10};
  if (metric == "r2") return {-none, 1};
  if (metric == "perplexity") return {1, none};
  if (metric == "excess_bits") return {-none, none};
  return {0, none};  // errors and losses
}

}  // namespace

Interval wilson_interval(double share, double examples) {
  const double z2 = deviations * deviations / examples;
  const double middle = (share + z2 / 2) / (1 + z2);
  const double half = std::sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2);
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

Interval interval_of(std::string_view metric, double value, double error, int64_t examples) {
  const std::string_view name = metric.substr(0, metric.find('@'));
  const Interval ends = ends_of(name);
  const auto n = static_cast<double>(std::max<int64_t>(1, examples));
  const double range = ends.high - ends.low;
  // Where all or none are right their spread says nothing; a mean within such ends is as sure as a
  // share.
  if (std::isfinite(range) && error <= 1e-9 * range) {
    const Interval share = wilson_interval((value - ends.low) / range, n);
    return {ends.low + range * share.low, ends.low + range * share.high};
  }
  if (is_in(shares, name)) {
    const double as_many = value * (1 - value) / (error * error) * n / std::max(1.0, n - 1);
    return wilson_interval(value, as_many);
  }
  return {std::max(ends.low, value - deviations * error),
          std::min(ends.high, value + deviations * error)};
}

}  // namespace fovea
