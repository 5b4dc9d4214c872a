// A part of the examples, held out to measure on.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

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
  std::vector<char> taken(from.size(), 0);
  const auto count = std::clamp<int64_t>(std::llround(part * static_cast<double>(n)), 1, n - 1);
  const auto order = shuffled(n, random);
  for (int64_t place : std::span(order).first(static_cast<size_t>(count))) {
    taken[static_cast<size_t>(place)] = 1;
  }
  std::vector<T> rest, chosen;
  for (size_t i = 0; i < from.size(); ++i) (taken[i] ? chosen : rest).push_back(std::move(from[i]));
  from = std::move(rest);
  return chosen;
}

// The same where examples of one key, if it is not empty, belong together and are all taken or all
// left: candidates of one question, phrases of one sentence.
template <class T, class KeyOf>
std::vector<T> take_part(std::vector<T>& from, double part, std::string_view name,
                         const KeyOf& key_of) {
  std::vector<std::vector<T>> groups;
  std::unordered_map<std::string, size_t> places;
  bool alone = true;
  for (const T& example : from) {
    const std::string key = key_of(example);
    alone &= key.empty();
    const auto [found, is_new] = places.try_emplace(key, groups.size());
    if (is_new || key.empty()) groups.emplace_back();
    groups[key.empty() ? groups.size() - 1 : found->second].push_back(example);
  }
  if (alone || groups.size() < 2) return take_part(from, part, name);
  const auto joined = [](std::vector<std::vector<T>> of) {
    std::vector<T> all;
    for (auto& group : of) std::ranges::move(group, std::back_inserter(all));
    return all;
  };
  const auto chosen = take_part(groups, part, name);
  from = joined(std::move(groups));
  return joined(chosen);
}

}  // namespace fovea
