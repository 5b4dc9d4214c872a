// Metrics by name. The metric of a whole set is a function of sums over its examples, so that
// what each example contributes can be told without looking at its text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// What one example adds. Each metric says what its numbers are where the tally is made.
using Tally = std::vector<double>;
// Adds an example's numbers; an empty sum takes the example's length.
void add_to(Tally& sum, const Tally& example);

struct Metric {
  std::string name;
  bool higher_is_better = true;
  double value = 0;
};

struct MetricKind {
  std::string name, help;
  bool higher_is_better;
  double (*of)(const Tally&);  // of the sum over the examples
  Metric measure(const Tally& sum) const { return {name, higher_is_better, of(sum)}; }
};

// Every metric there is: the one table that tasks, comparison and reports read.
std::span<const MetricKind> metrics();
// An unknown name is an Error that suggests the nearest known one.
const MetricKind& find_metric(std::string_view name);

// first / second of a sum of two: exact match, token accuracy, alignment accuracy, cer, loss. 0
// when nothing was counted.
double ratio_of(const Tally& sum);
// exp(first / second) of {sum of nats, tokens}.
double perplexity_of(const Tally& sum);
// {squared error, 1} of one prediction, and the root of their mean.
Tally rmse_tally(double truth, double predicted);
double rmse_of(const Tally& sum);

}  // namespace fovea
