#include "fovea/nn/parameter_file.h"

#include <unordered_set>

#include "fovea/op/shape.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {

struct ParameterFile::State {
  std::string path;
  LoadOptions options;
  Safetensors file;
  std::vector<std::string> missing{};
  std::unordered_set<std::string> used{};

  Tensor value(const std::string& name, const Shape& shape, Dtype dtype) {
    const StoredAt at = options.where ? options.where(name) : StoredAt{name};
    if (!file.has(at.name)) {
      check<ErrorKind::input>(!options.strict, path, ": has no array '", at.name,
                              at.name == name ? say("") : say("' for the parameter '", name),
                              "'; is it of another model?");
      missing.push_back(name);
      return {};
    }
    used.insert(at.name);
    Tensor value = file.load(at.name);
    file.forget(at.name);
    if (at.transposed) value = permute(value, {1, 0});
    if (at.parts > 1) {
      check<ErrorKind::input>(at.part >= 0 && at.part < at.parts && value.dim(0) % at.parts == 0,
                              path, ": the array '", at.name, "' ", value.shape(), " has no part ",
                              at.part, " of ", at.parts);
      const int64_t rows = value.dim(0) / at.parts;
      value = slice(value, 0, at.part * rows, (at.part + 1) * rows);
    }
    if (value.shape() != shape && value.elements() == shape.elements() &&
        value.shape().elements() == 1) {
      value = value.reshaped(shape);  // one number is one number, however many axes it has
    }
    check<ErrorKind::input>(value.shape() == shape && value.dtype() != Dtype::i32, path,
                            ": the array '", at.name, "' is ", value.shape(), " ", value.dtype(),
                            ", the model needs ", shape, " ", dtype);
    return value.to(dtype);
  }
};

ParameterFile::ParameterFile(const std::string& path, LoadOptions options)
    : state_(std::make_shared<State>(State{path, std::move(options), Safetensors::open(path)})) {}

ParameterSource ParameterFile::source() const {
  return [state = state_](const std::string& name, const Shape& shape, Dtype dtype) {
    return state->value(name, shape, dtype);
  };
}

const std::vector<std::string>& ParameterFile::missing() const { return state_->missing; }

std::vector<std::string> ParameterFile::left_over() const {
  std::vector<std::string> names;
  for (const auto& entry : state_->file.entries()) {
    if (!state_->used.contains(entry.name)) names.push_back(entry.name);
  }
  return names;
}

void ParameterFile::finish() const {
  if (!state_->options.strict) return;
  const auto rest = left_over();
  check<ErrorKind::input>(rest.empty(), state_->path, ": holds ", rest.size(),
                          " arrays that the model does not have, ", "first '",
                          rest.empty() ? "" : rest[0], "'; is it of another model?");
}

}  // namespace fovea
