// Plain twin of kernel/dropout.
#pragma once

#include <cstdint>

namespace fovea::naive {

// Wellons' "lowbias32", a bijection of 32 bits whose output bits each depend on all input bits.
inline uint32_t mix(uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

// The seed of a run of 2^32 elements: 64 bits of key and the run's number, mixed.
inline uint32_t run_seed(uint64_t key, uint32_t run) {
  return mix(static_cast<uint32_t>(key) ^ mix(static_cast<uint32_t>(key >> 32) ^ mix(run)));
}

inline uint32_t threshold(double p) { return static_cast<uint32_t>(p * 4294967296.0); }

inline bool keeps(uint64_t key, uint64_t index, uint32_t threshold) {
  const uint32_t seed = run_seed(key, static_cast<uint32_t>(index >> 32));
  return mix(static_cast<uint32_t>(index) ^ seed) >= threshold;
}

template <class T>
void dropout(T* y, const T* x, int64_t n, double p, uint64_t key) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = keeps(key, static_cast<uint64_t>(i), threshold(p)) ? x[i] * T(1 / (1 - p)) : T(0);
  }
}

}  // namespace fovea::naive
