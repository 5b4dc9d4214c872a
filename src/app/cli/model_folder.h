// The folder of a model, as the verbs that use one are given it.
#pragma once

#include <string>

namespace fovea::cli {

// The same folder; of a comparison's folder the run that is its best, which is said on stderr.
std::string model_folder(const std::string& folder);

// Leaves DIR/best, a link to `run` (a path within DIR).
void link_best(const std::string& folder, const std::string& run);

}  // namespace fovea::cli
