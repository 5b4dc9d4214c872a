// Where parameters live and how they get their names. A layer is a plain struct built from a Scope;
// the path it was built under names its parameters: "encoder/0/query/weight".
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/nn/init.h"
#include "fovea/op/parameter.h"

namespace fovea {

// Where a table takes first values from instead of drawing them, as a file of trained ones
// (nn/parameter_file.h): the value of the parameter of that name, or an empty array, and then it is
// drawn.
using ParameterSource =
    std::function<Tensor(const std::string& name, const Shape& shape, Dtype dtype)>;

// The one ordered table that saving, loading, counting and optimising walk. A copy of a table holds
// the same parameters; clone() gives others.
class Parameters {
 public:
  // float64 is for gradient checks.
  explicit Parameters(uint64_t seed = 0, Dtype dtype = Dtype::f32, ParameterSource source = {})
      : random_(seed), dtype_(dtype), source_(std::move(source)) {}

  // In the order in which the layers were built.
  const std::deque<Parameter>& entries() const { return entries_; }
  // The parameter of that name: parameters["output/bias"] = t sets its value. An unknown name is an
  // Error that suggests the nearest.
  const Parameter& operator[](std::string_view name) const;
  // Whether there is a parameter of that name.
  bool has(std::string_view name) const { return by_name_.contains(std::string(name)); }
  // Those whose names begin with `prefix`: to freeze them, or to give them a rate of their own.
  std::vector<Parameter> below(std::string_view prefix) const;
  // How many numbers all parameters hold together.
  int64_t count() const;

 private:
  friend class Scope;
  const Parameter& add(const std::string& name, const Shape& shape, const Init& init);

  Random random_;
  Dtype dtype_;
  ParameterSource source_;
  std::deque<Parameter> entries_;
  std::unordered_map<std::string, size_t> by_name_;
};

// A place in a table, under which a layer makes its parameters.
class Scope {
 public:
  Scope(Parameters& table) : table_(&table) {}  // NOLINT: a table is its own root scope

  Scope operator/(std::string_view name) const;
  Scope operator/(int64_t index) const { return *this / std::to_string(index); }
  // Makes the parameter path/name. Two of one name are an error.
  Parameter param(std::string_view name, const Shape& shape, const Init& init) const;
  // The names from the table's root to here, joined by "/"; empty for the root.
  const std::string& path() const { return path_; }
  // The parameters made under this path so far: what recomputed() needs of a layer.
  std::vector<Parameter> below() const;

 private:
  Parameters* table_;
  std::string path_;
};

}  // namespace fovea
