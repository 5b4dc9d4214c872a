// Batches of examples of like length, so that little is padding; and the split of examples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/random.h"

namespace fovea {

// In tokens.
struct Lengths {
  int64_t source, target = 0;
};

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

template <class T>
struct Split3 {
  std::vector<T> train, dev, test;
};

// Takes the parts `dev` and `test` (0.1: a tenth), drawn by the seed, from the examples; each of
// the three keeps the order of the examples and has at least one.
template <class T>
Split3<T> split_examples(std::vector<T> examples, double dev, double test, uint64_t seed) {
  const auto n = static_cast<int64_t>(examples.size());
  check(dev > 0 && test > 0 && dev + test < 1,
        "split: the parts for development and test need to be above 0 and below 1 together, got ",
        dev, " and ", test);
  check(n >= 3, "split: needs at least 3 examples, one each to train, develop and test, got ", n,
        "; give files for each, or more examples");
  const auto count = [n](double part) {
    return std::max<int64_t>(1, std::llround(part * static_cast<double>(n)));
  };
  const int64_t devs = std::min(count(dev), n - 2), tests = std::min(count(test), n - 1 - devs);
  Random random = Random(seed).fork("split");
  const std::vector<int64_t> order = shuffled(n, random);
  std::vector<char> part(examples.size(), 0);
  for (int64_t i = 0; i < devs + tests; ++i) part[order[i]] = i < devs ? 1 : 2;
  Split3<T> split;
  for (size_t i = 0; i < examples.size(); ++i) {
    (part[i] == 0   ? split.train
     : part[i] == 1 ? split.dev
                    : split.test)
        .push_back(std::move(examples[i]));
  }
  return split;
}

}  // namespace fovea
