// A learned value: a type of its own, so that it cannot be lost by accident. It is a handle: copies
// are the same parameter, and assigning an array sets the value that all of them see.
//
//   Parameter w = scope.param("weight", {out, in}, init::xavier_uniform());
//   Parameter same = w;                    // not a copy of the numbers
//   w = Tensor::zeros({out, in});          // same.value() is zeros now
//   Tensor y = linear(x, w);               // wherever an array is wanted, its value goes
#pragma once

#include <memory>
#include <string>

#include "fovea/tensor/tensor.h"

namespace fovea {

class Parameter {
 public:
  Parameter() = default;  // none, as for a layer without a bias: an empty array to ops
  explicit Parameter(Tensor value, std::string name = "");
  // While a clone() is under way on this thread, a copy is a parameter of its own; see clone().
  Parameter(const Parameter& other);
  Parameter(Parameter&&) noexcept = default;
  Parameter& operator=(const Parameter&) = default;  // becomes the same parameter as the other
  Parameter& operator=(Parameter&&) noexcept = default;

  // Sets the value, of the shape and type it has. On a const handle too: what changes is the
  // parameter, not which one this is.
  const Parameter& operator=(const Tensor& value) const;

  bool empty() const { return !cell_; }  // whether there is none, as of a layer without a bias
  // An empty array where there is no parameter.
  const Tensor& value() const { return cell_ ? cell_->value : nothing(); }
  operator const Tensor&() const { return value(); }  // NOLINT: implicit on purpose
  // The path that it was made under; empty when none was given.
  const std::string& name() const { return cell().name; }

  // Of its value; an Error where there is no parameter.
  const Shape& shape() const { return cell().value.shape(); }
  int64_t dim(int axis) const { return cell().value.dim(axis); }
  int64_t elements() const { return cell().value.elements(); }
  Dtype dtype() const { return cell().value.dtype(); }
  template <class T = float>
  std::span<const T> read() const {
    return cell().value.read<T>();
  }
  // The numbers, to change them in place. What a tape has recorded keeps those it saw.
  template <class T = float>
  std::span<T> write() const {
    return cell().value.write<T>();
  }

  // A frozen parameter is a constant: no op on it is recorded for its sake, it has no gradient, and
  // optimisers leave it alone.
  void freeze(bool frozen = true) const;
  // Whether it is one now.
  bool frozen() const { return cell().frozen; }

  // By which gradients know it; never 0, and the same while it is frozen.
  uint32_t number() const { return cell().number; }
  // Whether both are handles of one parameter.
  bool same_as(const Parameter& other) const { return cell_ == other.cell_; }

 private:
  friend class Cloning;
  struct Cell {
    std::string name;
    uint32_t number;
    bool frozen;
    Tensor value;
  };
  Cell& cell() const {
    check(cell_ != nullptr, "parameter: there is none, as in a layer without a bias");
    return *cell_;
  }
  static const Tensor& nothing();
  static std::shared_ptr<Cell> make(Tensor value, std::string name);

  std::shared_ptr<Cell> cell_;
};

// A parameter without a name, as for an experiment of a few lines.
inline Parameter parameter(Tensor value) { return Parameter(std::move(value)); }

// While one lives, parameters that are copied on this thread become parameters of their own with
// the same values; two handles of one parameter become two handles of one copy.
class Cloning {
 public:
  Cloning();
  ~Cloning();
  Cloning(const Cloning&) = delete;
  Cloning& operator=(const Cloning&) = delete;

 private:
  friend class Parameter;
  struct Map;
  std::unique_ptr<Map> map_;
  Cloning* outer_;
};

// A copy of a layer, model or table, or of a struct of several of them, that shares no parameter
// with it: it can be trained without changing the other. A plain copy would share them all.
template <class Model>
Model clone(const Model& model) {
  const Cloning cloning;
  return Model(model);
}

}  // namespace fovea
