// How long one who asks waits: examples answered one after the other, each alone.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace fovea {

struct Latency {
  int64_t examples = 0;               // that were timed; 0: there was nothing to ask
  double median_ms = 0, slow_ms = 0;  // slow: 95 of 100 are not slower
};

// When measuring ends.
struct LatencyLimits {
  int64_t examples = 200;  // at most so many are timed
  double seconds = 3;      // no further example is begun after so long
  int64_t warm_up = 3;     // answered first and not counted
};

// Examples are taken evenly from all; blank ones are left out. `now` gives seconds.
Latency measure_latency(std::span<const std::string> inputs,
                        const std::function<void(const std::string&)>& answer,
                        const std::function<double()>& now, const LatencyLimits& limits = {});

}  // namespace fovea
