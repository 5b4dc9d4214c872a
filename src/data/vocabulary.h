// Names and their numbers, for labels and tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fovea {

class Vocabulary {
 public:
  // The distinct names in the order in which they first come: of(v.names()) is v again.
  static Vocabulary of(std::span<const std::string> names);

  // -1 when not known.
  int32_t id(std::string_view name) const;
  const std::string& name(int32_t id) const;
  int64_t size() const { return static_cast<int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace fovea
