// Whether the difference between two systems is more than chance: Koehn, "Statistical significance
// tests for machine translation evaluation", 2004, in the two-sided form of sacreBLEU.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "fovea/base/random.h"
#include "fovea/train/metric.h"

namespace fovea {

// Two-sided p-value that the difference between a and b, tallies of the same examples in the same
// order, is chance: examples are drawn with replacement, both systems on the same draw, and counted
// is how often the difference strays from its mean by as much as the one observed. At least
// 1 / (samples + 1); 1 when the systems are equal. `metric` is called from several threads; the
// result does not depend on how many.
double paired_bootstrap(std::span<const Tally> a, std::span<const Tally> b,
                        const std::function<double(const Tally&)>& metric, Random random,
                        int64_t samples = 1000);

}  // namespace fovea
