#include "fovea/kernel/simd.h"

#include <cctype>
#include <cstdlib>

#include "fovea/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fovea/kernel/dispatch-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fovea::kernel::HWY_NAMESPACE {
int64_t this_target() { return HWY_TARGET; }
}  // namespace fovea::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fovea::kernel {
namespace {

HWY_EXPORT(this_target);

std::string name_of(int64_t target) {
  std::string name = hwy::TargetName(target);
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  if (name.starts_with("avx3")) name.replace(0, 4, "avx512");  // as everybody else calls it
  return name;
}

// Bits of the targets that were compiled and that the CPU has, the best one first.
std::vector<int64_t> usable_targets() {
  std::vector<int64_t> list;
  for (int64_t bits = hwy::SupportedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1) {
    list.push_back(bits & -bits);  // Highway gives better targets lower bits
  }
  return list;
}

}  // namespace

constinit std::atomic<bool> target_chosen{false};

// Threads that come here at once all choose the same, so nothing needs a lock.
void choose_target() {
  const char* name = std::getenv("FOVEA_TARGET");
  use_simd_target(name ? name : "");
}

std::string simd_target() { return name_of(FOVEA_DISPATCH(this_target)()); }

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (int64_t target : usable_targets()) names.push_back(name_of(target));
  return names;
}

void use_simd_target(const std::string& name) {
  int64_t chosen = 0;
  std::string known;
  for (int64_t target : usable_targets()) {
    if (name.empty() || name_of(target) == name) {
      chosen = target;
      break;
    }
    known += (known.empty() ? "" : ", ") + name_of(target);
  }
  check(chosen != 0, "FOVEA_TARGET: this CPU and build have ", known, ", not '", name, "'");
  // Lesser targets stay allowed, for code of the host program that was compiled for those only.
  hwy::GetChosenTarget().Update(hwy::SupportedTargets() & ~(chosen - 1));
  target_chosen.store(true, std::memory_order_release);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
