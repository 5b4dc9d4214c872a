// The studentized range (Tukey, "The problem of multiple comparisons", 1953): how far apart the
// largest and the smallest of several equal means lie by chance, in units of an estimated error.
#pragma once

#include <cstdint>

namespace fovea {

// The chance that the range of `groups` means exceeds q standard errors of one mean, where the
// error was estimated with so many degrees of freedom. For two groups it is the two-sided t test of
// q / sqrt(2).
double studentized_range_tail(double q, int64_t groups, double degrees);

}  // namespace fovea
