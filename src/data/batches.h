// Batches of examples of like length, so that little is padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/base/random.h"

namespace fovea {

// In tokens.
struct Lengths {
  int64_t source, target = 0;  // of the example's two sides; a text alone has no target
};

// How large a batch may be.
struct BatchOptions {
  int64_t examples = 64;  // most examples a batch
  int64_t tokens = 0;     // most tokens a batch, padding and both sides counted; 0: no limit
};

// Every example once, in batches of like lengths, in an order that the stream alone decides. An
// example that is longer than options.tokens is a batch of its own.
std::vector<std::vector<int64_t>> batches_by_length(std::span<const Lengths> lengths,
                                                    const BatchOptions& options, Random random);

// The part of all tokens in these batches, both sides together, that is padding: in [0, 1).
double padding_of(std::span<const Lengths> lengths,
                  const std::vector<std::vector<int64_t>>& batches);

// The numbers 0 .. n-1 in an order that the stream alone decides.
std::vector<int64_t> shuffled(int64_t n, Random& random);

}  // namespace fovea
