#include "fovea/task/latency.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fovea {
namespace {

// The smallest value that this share of all does not exceed.
double quantile(const std::vector<double>& sorted, double share) {
  const auto n = static_cast<double>(sorted.size());
  return sorted[static_cast<size_t>(std::max(1.0, std::ceil(share * n))) - 1];
}

}  // namespace

Latency measure_latency(std::span<const std::string> inputs,
                        const std::function<void(const std::string&)>& answer,
                        const std::function<double()>& now, const LatencyLimits& limits) {
  std::vector<const std::string*> asked;
  for (const std::string& input : inputs) {
    if (input.find_first_not_of(" \t\r\n") != std::string::npos) asked.push_back(&input);
  }
  if (asked.empty()) return {};
  const double start = now();
  const auto all = static_cast<int64_t>(asked.size()), most = std::min(all, limits.examples);
  for (int64_t i = 0; i < std::min(most, limits.warm_up); ++i) {
    answer(*asked[i * all / most]);
    if (now() - start > limits.seconds / 2) break;
  }
  std::vector<double> took;
  for (int64_t i = 0; i < most; ++i) {
    const double before = now();
    if (!took.empty() && before - start > limits.seconds) break;
    answer(*asked[i * all / most]);
    took.push_back((now() - before) * 1e3);
  }
  std::ranges::sort(took);
  return {static_cast<int64_t>(took.size()), quantile(took, 0.5), quantile(took, 0.95)};
}

}  // namespace fovea
