// One step of Adam (Kingma and Ba 2014) with decoupled weight decay (Loshchilov and Hutter 2017).
#pragma once

#include <cstdint>

#include "fovea/kernel/naive/adam.h"

namespace fovea::kernel {

using naive::AdamStep;

// w, m and v [n] are updated in place by the gradient g.
void adam(const AdamStep& step, float* w, float* m, float* v, const float* g, int64_t n);
inline void adam(const AdamStep& step, double* w, double* m, double* v, const double* g,
                 int64_t n) {
  naive::adam(step, w, m, v, g, n);
}

}  // namespace fovea::kernel
