// Parameters on disk.
#pragma once

#include <string>

#include "fovea/nn/scope.h"
#include "fovea/tensor/safetensors.h"

namespace fovea {

// Every parameter under `prefix` + its name, and what else should stand in the same file.
void save_parameters(const std::string& path, const Parameters& parameters,
                     std::string_view prefix = "", std::vector<NamedTensor> more = {},
                     const Safetensors::Metadata& metadata = {});

// What the file holds under `prefix` + name for the parameters whose names begin with `part`, in
// the table's order. An Error when it lacks one of them or has it in another shape.
std::vector<Tensor> read_parameters(const Safetensors& file, const std::string& path,
                                    const Parameters& parameters, std::string_view prefix = "",
                                    std::string_view part = "");

// Fills every parameter from the file. An Error, and nothing changed, when one is missing there or
// has another shape.
void load_parameters(const Safetensors& file, const std::string& path, const Parameters& parameters,
                     std::string_view prefix = "");
void load_parameters(const std::string& path, const Parameters& parameters);

// Fills the parameters whose names begin with `prefix` from a file that may be of another model; an
// Error when the file lacks one of them or has it in another shape.
void load_part(const std::string& path, const Parameters& parameters, std::string_view prefix);

}  // namespace fovea
