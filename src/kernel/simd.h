// Which instruction set the kernels use. One binary holds code for several; the best one that the
// CPU has is chosen at run time, or the one that FOVEA_TARGET names (sse2, sse4, avx2, avx3, neon).
#pragma once

#include <string>
#include <vector>

namespace fovea::kernel {

// The name of the target whose code really runs, told by that code.
std::string simd_target();
// Targets that this binary and this CPU have, best first.
std::vector<std::string> simd_targets();
// Forces one of them for the whole process, oneDNN included where it allows that; "" is the best.
void use_simd_target(const std::string& name);

}  // namespace fovea::kernel
