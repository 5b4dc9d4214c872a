// How finely loops are cut for threads: a chunk should outlast the few microseconds that handing it
// over costs. Fixed numbers, so that the cut depends on the problem's size alone.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fovea::kernel {

constexpr int64_t light_grain = 32 << 10;  // elements: an add, a copy
constexpr int64_t heavy_grain = 8 << 10;   // elements: an exponential

// Rows a chunk takes so that it has at least `elements` of them.
inline int64_t row_grain(int64_t elements, int64_t row) {
  return std::max<int64_t>(1, (elements + row - 1) / std::max<int64_t>(1, row));
}

}  // namespace fovea::kernel
