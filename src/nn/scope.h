// Where parameters live and how they get their names. A layer is a plain struct built from a Scope;
// the path it was built under names its parameters: "encoder/0/query/weight".
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "fovea/nn/init.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// The one ordered table that saving, loading, counting and optimising walk.
class Parameters {
 public:
  struct Entry {
    std::string name;
    Tensor value;  // a parameter: gradients know it by its identity
  };

  // float64 is for gradient checks.
  explicit Parameters(uint64_t seed = 0, Dtype dtype = Dtype::f32) : random_(seed), dtype_(dtype) {}
  Parameters(const Parameters&) = delete;  // layers hold references into it
  Parameters& operator=(const Parameters&) = delete;

  // In the order in which the layers were built. A reference stays good for the table's life.
  std::deque<Entry>& entries() { return entries_; }
  const std::deque<Entry>& entries() const { return entries_; }
  Tensor& operator[](std::string_view name);
  bool has(std::string_view name) const { return by_name_.contains(std::string(name)); }
  // How many numbers all parameters hold together.
  int64_t count() const;

 private:
  friend class Scope;
  Tensor& add(const std::string& name, const Shape& shape, const Init& init);

  Random random_;
  Dtype dtype_;
  std::deque<Entry> entries_;
  std::unordered_map<std::string, size_t> by_name_;
};

class Scope {
 public:
  Scope(Parameters& table) : table_(&table) {}  // NOLINT: a table is its own root scope

  Scope operator/(std::string_view name) const;
  Scope operator/(int64_t index) const { return *this / std::to_string(index); }
  // Makes the parameter path/name. Two of one name are an error.
  Tensor& param(std::string_view name, const Shape& shape, const Init& init) const;
  const std::string& path() const { return path_; }

 private:
  Parameters* table_;
  std::string path_;
};

}  // namespace fovea
