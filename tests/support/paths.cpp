#include "support/paths.h"

namespace fovea::test {

std::string golden_path(const std::string& name) { return FOVEA_GOLDEN_DIR "/" + name; }
std::string program_path() { return FOVEA_PROGRAM; }

}  // namespace fovea::test
