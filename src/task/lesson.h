// What teaches a model to write: right answers as it is shown them, and what it should say to them.
#pragma once

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "fovea/data/tokenizer.h"
#include "fovea/nn/sequences.h"
#include "fovea/op/parameter.h"

namespace fovea {

struct Lesson {
  Sequences target;  // each begins with the begin token and lacks the end token
  Tensor wanted;     // int32 [rows of target]: the token that follows each row
};
// Of the ids of each answer.
inline Lesson lesson_of(std::span<const std::vector<int32_t>> answers) {
  std::vector<std::vector<int32_t>> targets;
  std::vector<int32_t> wanted;
  for (const auto& ids : answers) {
    auto& target = targets.emplace_back(1, Tokenizer::begin);
    target.insert(target.end(), ids.begin(), ids.end());
    wanted.insert(wanted.end(), ids.begin(), ids.end());
    wanted.push_back(Tokenizer::end);
  }
  return {sequences_of(targets), Tensor::of({static_cast<int64_t>(wanted.size())}, wanted)};
}

// With a large vocabulary the first thing to learn is how often each word comes, and learning that
// drives the layer below the output into saturation, from which it does not come back. So the
// output's bias, where there is one, starts there.
inline void start_from_frequencies(const Parameter& bias,
                                   std::span<const std::vector<int32_t>* const> answers) {
  if (bias.empty()) return;
  std::vector<double> counts(static_cast<size_t>(bias.elements()), 1);
  for (const auto* ids : answers) {
    for (int32_t id : *ids) ++counts[static_cast<size_t>(id)];
    ++counts[static_cast<size_t>(Tokenizer::end)];
  }
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const auto to = bias.write();
  for (size_t i = 0; i < counts.size(); ++i) to[i] = static_cast<float>(std::log(counts[i] / all));
}

}  // namespace fovea
