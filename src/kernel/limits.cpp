#include "fovea/kernel/limits.h"

#include <oneapi/dnnl/dnnl.h>

#include "fovea/base/parallel.h"
#include "fovea/kernel/reduce.h"

// oneDNN takes its thread count from OpenMP. Declared here because <omp.h> comes with the compiler,
// and clang's would bring a second runtime.
extern "C" void omp_set_num_threads(int);

namespace fovea::kernel {

void limit_gemm(int64_t n, const float* a, const float* b, float* c) {
  omp_set_num_threads(threads());
  dnnl_sgemm('N', 'N', n, n, n, 1, a, n, b, n, 0, c, n);
}

float limit_read(const float* x, int64_t n) {
  float sum = 0;
  sum_axis(&sum, x, 1, n, 1);
  return sum;
}

}  // namespace fovea::kernel
