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

// A metric as it was measured.
struct Metric {
  std::string name;              // as metrics() has it
  bool higher_is_better = true;  // else a lower value is better, as of a loss
  double value = 0;              // in its own unit: BLEU 0 to 100, accuracy 0 to 1
};

// A row of the table.
struct MetricKind {
  std::string name, help;      // as it is asked for, and what it measures in a few words
  bool higher_is_better;       // which of two values wins
  double (*of)(const Tally&);  // of the sum over the examples
  // The metric of a set, from the sum over its examples.
  Metric measure(const Tally& sum) const { return {name, higher_is_better, of(sum)}; }
};

// Every metric there is: the one table that tasks, comparison and reports read.
std::span<const MetricKind> metrics();
// "wrong_bits@80" is the metric wrong_bits of a part of the examples. An unknown name is an Error
// that suggests the nearest known one.
const MetricKind& find_metric(std::string_view name);

// first / second of a sum of two: exact match, token accuracy, alignment accuracy, cer, loss. 0
// when nothing was counted.
double ratio_of(const Tally& sum);
// exp(first / second) of {sum of nats, tokens}.
double perplexity_of(const Tally& sum);
// {squared error, 1} of one prediction, and the root of their mean.
Tally rmse_tally(double truth, double predicted);
double rmse_of(const Tally& sum);
// {absolute error, 1}.
Tally mae_tally(double truth, double predicted);
// {squared error, 1, truth, squared truth}, and the part of the truth's variance that is explained:
// 1 - error / variance.
Tally r2_tally(double truth, double predicted);
double r2_of(const Tally& sum);
// {nats, bytes}: nats over ln 2 for each byte of the text.
double bits_per_byte_of(const Tally& sum);

}  // namespace fovea
