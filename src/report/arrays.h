// Attention maps as arrays, for programs that go on with them.
#pragma once

#include <string>

#include "fovea/report/heat_map.h"

namespace fovea {

// A NumPy archive: for every map its weights [queries, keys] under its name, and the words beside
// it as "NAME/queries" and "NAME/keys". `numpy.load(path)` reads it.
void save_npz(const std::string& path, const Drawing& drawing);

// The same weights as safetensors; the words are JSON lists in its metadata.
void save_maps(const std::string& path, const Drawing& drawing);

}  // namespace fovea
