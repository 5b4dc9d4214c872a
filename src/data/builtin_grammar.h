// Drawing from lists, for the sentences of the built-in data.
#pragma once

#include <initializer_list>
#include <string>

#include "fovea/base/random.h"

namespace fovea {

// One of the list, each equally likely.
template <class List>
std::string one_of(const List& list, Random& random) {
  return *(std::begin(list) + random.below(std::size(list)));
}
// The same of a list that is written where it is used.
inline std::string one_of(std::initializer_list<const char*> list, Random& random) {
  return *(list.begin() + random.below(list.size()));
}

// True `percent` times of a hundred.
inline bool chance(uint64_t percent, Random& random) { return random.below(100) < percent; }

}  // namespace fovea
