#include "fovea/data/vocabulary.h"

#include "fovea/base/error.h"

namespace fovea {

Vocabulary Vocabulary::of(std::span<const std::string> names) {
  Vocabulary vocabulary;
  for (const std::string& name : names) {
    const auto id = static_cast<int32_t>(vocabulary.names_.size());
    if (vocabulary.ids_.emplace(name, id).second) vocabulary.names_.push_back(name);
  }
  return vocabulary;
}

int32_t Vocabulary::id(std::string_view name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? -1 : found->second;
}

const std::string& Vocabulary::name(int32_t id) const {
  check(id >= 0 && id < size(), "vocabulary: needs a number below ", size(), ", got ", id);
  return names_[static_cast<size_t>(id)];
}

}  // namespace fovea
