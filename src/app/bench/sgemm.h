// The machine's best matrix product: dnnl_sgemm, which every speed is given as a ratio to. oneDNN
// is loaded when it is measured, so that the program starts, and can be shipped, without it.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"
#include "fovea/kernel/simd.h"

namespace fovea::bench {

class Sgemm {
 public:
  // Versions 3 and 2 of the library have the functions that are used here.
  explicit Sgemm(const std::vector<std::string>& names = {"libdnnl.so.3", "libdnnl.so.2"}) {
    for (const std::string& name : names) {
      if ((library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))) break;
    }
    check(library_, "bench: speed is measured against oneDNN, and ", names.back(),
          " is not there; install it (Debian's package libdnnl2)");
    multiply_ = find<Multiply>("dnnl_sgemm");
    set_threads_ = find<SetThreads>("omp_set_num_threads");
    // oneDNN follows FOVEA_TARGET, so that like is compared with like. What it has no name for
    // keeps its own choice.
    const char* target = std::getenv("FOVEA_TARGET");
    if (!target || !*target) return;
    const std::string name = kernel::simd_target();
    constexpr int sse41 = 0x1, avx2 = 0x7;  // of dnnl_cpu_isa_t
    if (name == "sse4") find<SetIsa>("dnnl_set_max_cpu_isa")(sse41);
    if (name == "avx2") find<SetIsa>("dnnl_set_max_cpu_isa")(avx2);
  }

  // c = a b, n x n each, by its own threading on as many threads as ours.
  void operator()(int64_t n, const float* a, const float* b, float* c) const {
    set_threads_(threads());
    multiply_('N', 'N', n, n, n, 1, a, n, b, n, 0, c, n);
  }

 private:
  using Multiply = int (*)(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t,
                           const float*, int64_t, float, float*, int64_t);
  using SetThreads = void (*)(int);
  using SetIsa = int (*)(int);

  template <class Function>
  Function find(const char* name) const {
    void* found = dlsym(library_, name);
    check(found, "bench: this oneDNN has no ", name, "; Debian's package libdnnl2 has");
    return reinterpret_cast<Function>(found);
  }

  void* library_ = nullptr;  // stays loaded: its threads do not end
  Multiply multiply_;
  SetThreads set_threads_;
};

}  // namespace fovea::bench
