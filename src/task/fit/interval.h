// Between which values a metric lies over other test examples, at 95 %.
#pragma once

#include <cstdint>
#include <string_view>

namespace fovea {

struct Interval {
  double low = 0, high = 0;  // both included
};

// Wilson's, of a share of so many examples (1927): never outside 0 to 1, and of some width where
// all or none are right.
Interval wilson_interval(double share, double examples);

// Of a metric of find_metric() on so many examples. `error` is one standard deviation. Of a share
// it is Wilson's, of as many examples as would give that error; all others end where the metric
// does.
Interval interval_of(std::string_view metric, double value, double error, int64_t examples);

}  // namespace fovea
