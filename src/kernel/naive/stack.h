// Continuous stacks as their paper states them, over all that was ever pushed: Grefenstette,
// Hermann, Suleyman, Blunsom, "Learning to Transduce with Unbounded Memory", 2015. The twin of
// memory/strengths.h, which holds only what is left.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fovea::naive {

// s_i = max(0, s_i - max(0, u - sum of the strengths between i and the end)); the end is the last
// entry, or with `bottom` the first. (Equations 2 and 5.)
template <class T>
void pop_strengths(T* after, const T* before, int64_t n, T u, bool bottom) {
  for (int64_t i = 0; i < n; ++i) {
    T outside = 0;
    for (int64_t j = bottom ? 0 : i + 1; j < (bottom ? i : n); ++j) outside += before[j];
    after[i] = std::max(T(0), before[i] - std::max(T(0), u - outside));
  }
}

// r = sum_i min(s_i, max(0, 1 - sum of the strengths between i and the end)) v_i. (Equations 3, 6.)
template <class T>
void read_strengths(T* r, const T* s, const T* v, int64_t n, int64_t width, bool bottom) {
  std::fill_n(r, width, T(0));
  for (int64_t i = 0; i < n; ++i) {
    T outside = 0;
    for (int64_t j = bottom ? 0 : i + 1; j < (bottom ? i : n); ++j) outside += s[j];
    const T part = std::min(s[i], std::max(T(0), 1 - outside));
    for (int64_t k = 0; k < width; ++k) r[k] += part * v[i * width + k];
  }
}

}  // namespace fovea::naive
