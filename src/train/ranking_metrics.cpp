#include "fovea/train/ranking_metrics.h"

#include <algorithm>

namespace fovea {

RankingTallies ranking_tallies(std::vector<RankedCandidate> candidates) {
  std::ranges::sort(candidates, [](const RankedCandidate& a, const RankedCandidate& b) {
    return a.score != b.score ? a.score > b.score : !a.relevant && b.relevant;
  });
  double precision = 0, first = 0, found = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].relevant) continue;
    const auto rank = static_cast<double>(i + 1);
    if (found == 0) first = 1 / rank;
    found += 1;
    precision += found / rank;
  }
  if (found == 0) return {{0, 0}, {0, 0}, {0, 0}};
  return {{precision / found, 1}, {first, 1}, {candidates[0].relevant ? 1.0 : 0.0, 1}};
}

}  // namespace fovea
