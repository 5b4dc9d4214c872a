#include "fovea/data/vocabulary.h"

#include "fovea/base/error.h"

namespace fovea {

Vocabulary Vocabulary::of(std::span<const std::string> names) {
  Vocabulary vocabulary;
  for (const std::string& name : names) {
    const uint64_t hash = hash_text(name);
    if (vocabulary.id(name, hash) >= 0) continue;
    vocabulary.index_.add(hash);
    vocabulary.names_.push_back(name);
  }
  return vocabulary;
}

const std::string& Vocabulary::name(int32_t id) const {
  check(id >= 0 && id < size(), "vocabulary: needs a number below ", size(), ", got ", id);
  return names_[static_cast<size_t>(id)];
}

}  // namespace fovea
