// Which instruction set the kernels use. One binary holds code for several; the best one that the
// CPU has is chosen at run time, or the one that FOVEA_TARGET names (sse4, avx2, avx512, neon). It
// is read when the first kernel runs, which an unknown name ends with an Error.
#pragma once

#include <string>
#include <vector>

namespace fovea::kernel {

// The name of the target whose code really runs, told by that code.
std::string simd_target();
// Targets that this binary and this CPU have, best first.
std::vector<std::string> simd_targets();
// Forces one of them for the whole process, also for a host program that uses Highway; "" is the
// best.
void use_simd_target(const std::string& name);

}  // namespace fovea::kernel
