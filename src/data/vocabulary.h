// Names and their numbers, for labels and tokens.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/text_index.h"

namespace fovea {

class Vocabulary {
 public:
  // The distinct names in the order in which they first come: of(v.names()) is v again.
  static Vocabulary of(std::span<const std::string> names);

  // -1 when not known. A caller that asks several vocabularies hashes once.
  int32_t id(std::string_view name) const { return id(name, hash_text(name)); }
  int32_t id(std::string_view name, uint64_t hash) const {
    return index_.find(hash, [&](int32_t i) { return names_[static_cast<size_t>(i)] == name; });
  }
  // An id that is not there is an Error.
  const std::string& name(int32_t id) const;
  // How many names there are.
  int64_t size() const { return static_cast<int64_t>(names_.size()); }
  // By id.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  TextIndex index_;
};

}  // namespace fovea
