// FOVEA_DISPATCH(f)(arguments...) calls f as compiled for the instruction set in use, which the
// first call of all chooses. Highway's own HWY_DYNAMIC_DISPATCH would not read FOVEA_TARGET, and a
// static initialiser that does is left out by the linker, or comes after the host program's.
#pragma once

#include <hwy/highway.h>

#include <atomic>

namespace fovea::kernel {

extern std::atomic<bool> target_chosen;
void choose_target();

inline void need_target() {
  if (!target_chosen.load(std::memory_order_acquire)) choose_target();
}

#define FOVEA_DISPATCH(FUNCTION) (::fovea::kernel::need_target(), HWY_DYNAMIC_DISPATCH(FUNCTION))

}  // namespace fovea::kernel
