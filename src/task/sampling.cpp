#include "fovea/task/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

int32_t draw_token(std::span<const float> scores, const Sampling& how, int32_t barred,
                   Random& random) {
  check(how.temperature >= 0, "temperature: cannot be below 0, got ", how.temperature);
  check(how.top_p > 0 && how.top_p <= 1, "top_p: must be in (0, 1], got ", how.top_p);
  check(how.top_k >= 0, "top_k: cannot be below 0, got ", how.top_k);
  std::vector<int32_t> order(scores.size() - barred);
  std::iota(order.begin(), order.end(), barred);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int32_t id) { return scores[id]; });
  if (how.temperature == 0) return order[0];
  if (how.top_k > 0 && how.top_k < static_cast<int64_t>(order.size())) order.resize(how.top_k);
  std::vector<double> weights;
  for (int32_t id : order) {
    weights.push_back(std::exp((scores[id] - scores[order[0]]) / how.temperature));
  }
  double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double kept = 0;
  size_t n = 0;
  while (n < weights.size() && (n == 0 || kept < how.top_p * all)) kept += weights[n++];
  double at = random.uniform() * kept;
  for (size_t i = 0; i < n; ++i) {
    at -= weights[i];
    if (at < 0) return order[i];
  }
  return order[n - 1];
}

}  // namespace fovea
