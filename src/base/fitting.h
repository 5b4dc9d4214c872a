// What is fitted at once rather than learned by steps: how far that may go, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace fovea {

// How far fitting may go.
struct FitLimits {
  std::function<bool()> stop{};  // asked now and then: whether to end with what has been found
  int64_t tries = 0;  // at most so many costs, passes or the like; 0: as many as there are

  // Whether to end before another try.
  bool end_after(int64_t tried) const {
    return tried > 0 && ((tries > 0 && tried >= tries) || (stop && stop()));
  }
};

// What came of it. With as many tries the same comes of it again, whatever the clock says.
struct FitChoice {
  int64_t tries = 0;             // that were made; 0: nothing was fitted
  std::vector<double> chosen{};  // on validation, as a cost; what fitting again goes by
};

}  // namespace fovea
