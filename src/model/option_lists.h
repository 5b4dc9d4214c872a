// Lists of options, put together.
#pragma once

#include <algorithm>
#include <vector>

#include "fovea/base/fields.h"

namespace fovea {

// All of them, each once.
template <class... Lists>
std::vector<FieldInfo> joined(std::vector<FieldInfo> first, Lists... more) {
  const auto add = [&](std::vector<FieldInfo> list) {
    for (FieldInfo& info : list) {
      if (std::ranges::find(first, info.name, &FieldInfo::name) == first.end()) {
        first.push_back(std::move(info));
      }
    }
  };
  (add(std::move(more)), ...);
  return first;
}

}  // namespace fovea
