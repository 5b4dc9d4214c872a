// What a conditional random field sees of a word: itself, its neighbours, its beginning, end and
// shape (after Ratnaparkhi 1996 and Sha, Pereira 2003), as numbers.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "fovea/data/feature_index.h"

namespace fovea {

class TagFeatures {
 public:
  TagFeatures() = default;
  // Features of fewer than `least` sentences are left out.
  static TagFeatures learn(int64_t least, std::span<const std::vector<std::string>> sentences);

  // Of each word, in order.
  std::vector<std::vector<int32_t>> ids(std::span<const std::string> words) const;
  int64_t size() const { return index_.size(); }  // features that are known

  // To FOLDER/NAME.safetensors, and back.
  void save(const std::string& folder, const std::string& name) const;
  static TagFeatures load(const std::string& folder, const std::string& name);

 private:
  FeatureIndex index_;
};

}  // namespace fovea
