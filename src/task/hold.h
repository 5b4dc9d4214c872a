// A model kept behind its call, so that a task can choose between kinds of model.
#pragma once

#include <memory>

namespace fovea {

template <class Model, class... Arguments>
auto hold(Arguments&&... arguments) {
  return [model = std::make_shared<const Model>(std::forward<Arguments>(arguments)...)](
             const auto&... inputs) { return (*model)(inputs...); };
}

}  // namespace fovea
