#include "fovea/kernel/simd.h"

#include <oneapi/dnnl/dnnl.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "fovea/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fovea/kernel/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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
  return name;
}

// Bits of the targets that were compiled and that the CPU has, the best one first.
std::vector<int64_t> usable_targets() {
  static const std::vector<int64_t> found = [] {
    std::vector<int64_t> list;
    for (int64_t bits = hwy::SupportedTargets() & HWY_TARGETS; bits != 0; bits &= bits - 1) {
      list.push_back(bits & -bits);  // Highway gives better targets lower bits
    }
    return list;
  }();
  return found;
}

void limit_onednn(int64_t target) {
  // oneDNN takes this only before its first primitive; what it has no name for keeps its own
  // choice.
  if (target == HWY_SSE4) dnnl_set_max_cpu_isa(dnnl_cpu_isa_sse41);
  if (target == HWY_AVX2) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx2);
}

// FOVEA_TARGET must count before the first kernel runs, even one that a static initialiser calls.
[[maybe_unused]] const bool chosen_at_start = [] {
  const char* name = std::getenv("FOVEA_TARGET");
  if (!name || !*name) return false;
  try {
    use_simd_target(name);
  } catch (const Error& error) {
    std::fprintf(stderr, "fovea: %s\n", error.what());
    std::_Exit(2);
  }
  return true;
}();

}  // namespace

std::string simd_target() { return name_of(HWY_DYNAMIC_DISPATCH(this_target)()); }

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
  hwy::SetSupportedTargetsForTest(name.empty() ? 0 : chosen);
  hwy::GetChosenTarget().DeInit();
  if (!name.empty()) limit_onednn(chosen);
}

}  // namespace fovea::kernel
#endif  // HWY_ONCE
