// What stands for a text that is too long.
#pragma once

#include <cstdint>
#include <vector>

namespace fovea {

// Of a text that is too long the beginning and the end say most (Sun et al. 2019).
template <class T>
std::vector<T> cut_to(std::vector<T> list, int64_t longest) {
  const auto n = static_cast<int64_t>(list.size());
  if (n > longest) {
    list.erase(list.begin() + longest / 2, list.begin() + (n - longest + longest / 2));
  }
  return list;
}

}  // namespace fovea
