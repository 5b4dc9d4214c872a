// A part of the examples, held out to measure on.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "fovea/base/error.h"
#include "fovea/data/batches.h"

namespace fovea {

// Takes the part (0.1: a tenth) for `name` out of `from`, at least one example and not all of them.
// Which ones depends on their number and the name alone: runs that differ in their seed are
// compared on the same examples. Both keep their order.
template <class T>
std::vector<T> take_part(std::vector<T>& from, double part, std::string_view name) {
  check(part > 0 && part < 1, name, "_part: must be between 0 and 1, got ", part);
  const auto n = static_cast<int64_t>(from.size());
  check(n >= 2, "data: ", n, " examples are too few to take a part for ", name,
        "; give more, or a file for ", name);
  Random random = Random(0).fork(name);
  std::vector<char> taken(n, 0);
  const auto count = std::clamp<int64_t>(std::llround(part * static_cast<double>(n)), 1, n - 1);
  const auto order = shuffled(n, random);
  for (int64_t i = 0; i < count; ++i) taken[order[i]] = 1;
  std::vector<T> rest, chosen;
  for (int64_t i = 0; i < n; ++i) (taken[i] ? chosen : rest).push_back(std::move(from[i]));
  from = std::move(rest);
  return chosen;
}

}  // namespace fovea
