// Counter-based random numbers: number i of a stream is a pure function of (seed, stream, i), so
// the same seed gives the same bits whatever the number of threads and in whatever order they draw.
// Philox 4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea {

// The four numbers that belong to a counter and a key.
inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// FNV-1a: a stable number for a name, so that a parameter's first values depend on its path alone.
constexpr uint64_t hash_name(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// A position in a stream. Copying one copies the position; the two then draw the same numbers.
class Random {
 public:
  explicit Random(uint64_t seed = 0, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  // An independent stream below this one, the same for the same name wherever this one stands.
  Random fork(uint64_t id) const {
    const auto mixed = block(id, 0x666f726b);
    return Random(seed_ ^ (uint64_t{mixed[1]} << 32 | mixed[0]),
                  uint64_t{mixed[3]} << 32 | mixed[2]);
  }
  Random fork(std::string_view name) const { return fork(hash_name(name)); }

  // The next 32 or 64 random bits.
  uint32_t bits() { return bits_at(next_++); }
  uint64_t bits64() {
    const uint64_t high = bits();
    return high << 32 | bits();
  }
  // In [0, 1): 24 bits, so that float and double runs draw the same number.
  float uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }
  // In [0, n), without the bias of a plain remainder; an Error when n is 0.
  uint64_t below(uint64_t n) {
    check(n > 0, "random: there is no number below 0");
    const uint64_t limit = ~uint64_t{0} - ~uint64_t{0} % n;
    uint64_t x = bits64();
    while (x >= limit) x = bits64();
    return x % n;
  }
  // From the normal distribution of mean 0 and deviation 1.
  double normal() {
    const double u = (bits() + 0.5) * 0x1p-32;  // never 0, so the logarithm is finite
    const double v = (bits() + 0.5) * 0x1p-32;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

  // Number i of the stream, without moving it.
  uint32_t bits_at(uint64_t i) const { return block(i / 4, 0)[i % 4]; }

  // All there is to save: where a stream stands.
  struct State {
    uint64_t seed, stream, next;  // which stream, and the number it draws next
    bool operator==(const State&) const = default;
  };
  // Where this one stands; a Random made of it goes on from there.
  State state() const { return {seed_, stream_, next_}; }
  explicit Random(const State& s) : seed_(s.seed), stream_(s.stream), next_(s.next) {}

 private:
  std::array<uint32_t, 4> block(uint64_t index, uint32_t lane) const {
    return philox({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32) ^ lane,
                   static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                  {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  }

  uint64_t seed_, stream_, next_ = 0;
};

}  // namespace fovea
