#include "fovea/train/checkpoint.h"

#include <algorithm>

namespace fovea {

void save_parameters(const std::string& path, const Parameters& parameters, std::string_view prefix,
                     std::vector<NamedTensor> more, const Safetensors::Metadata& metadata) {
  std::vector<NamedTensor> all = std::move(more);
  for (const auto& entry : parameters.entries()) {
    all.push_back({say(prefix, entry.name()), entry});
  }
  save_safetensors(path, all, metadata);
}

std::vector<Tensor> read_parameters(const Safetensors& file, const std::string& path,
                                    const Parameters& parameters, std::string_view prefix,
                                    std::string_view part) {
  std::vector<Tensor> values;
  for (const auto& entry : parameters.entries()) {
    if (!entry.name().starts_with(part)) continue;
    const std::string name = say(prefix, entry.name());
    check<ErrorKind::input>(file.has(name), path, ": has no array '", name,
                            "'; is it of another model?");
    Tensor value = file.load(name);
    check<ErrorKind::input>(
        value.shape() == entry.value().shape() && value.dtype() == entry.value().dtype(), path,
        ": the array '", name, "' is ", value.shape(), " ", value.dtype(), ", the model needs ",
        entry.value().shape(), " ", entry.value().dtype());
    values.push_back(std::move(value));
  }
  return values;
}

namespace {

// Fills the parameters whose names begin with `part` from the arrays `prefix` + name.
void load(const Safetensors& file, const std::string& path, const Parameters& parameters,
          std::string_view prefix, std::string_view part) {
  const std::vector<Tensor> values = read_parameters(file, path, parameters, prefix, part);
  size_t i = 0;
  for (const Parameter& entry : parameters.entries()) {
    if (!entry.name().starts_with(part)) continue;
    entry = values[i++];
  }
}

}  // namespace

void load_parameters(const Safetensors& file, const std::string& path, const Parameters& parameters,
                     std::string_view prefix) {
  load(file, path, parameters, prefix, "");
}

void load_parameters(const std::string& path, const Parameters& parameters) {
  load_parameters(Safetensors::open(path), path, parameters);
}

void load_part(const std::string& path, const Parameters& parameters, std::string_view prefix) {
  load(Safetensors::open(path), path, parameters, "", prefix);
}

}  // namespace fovea
