// Plain twin of kernel/adam.
#pragma once

#include <cmath>
#include <cstdint>

namespace fovea::naive {

struct AdamStep {
  double rate, beta1, beta2, eps;
  double decay;       // weight decay, already times the rate
  double fix1, fix2;  // 1 - beta^t: what the bias correction divides by
};

template <class T>
void adam(const AdamStep& s, T* w, T* m, T* v, const T* g, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    m[i] += T(1 - s.beta1) * (g[i] - m[i]);
    v[i] += T(1 - s.beta2) * (g[i] * g[i] - v[i]);
    w[i] -=
        T(s.decay) * w[i] + T(s.rate / s.fix1) * m[i] / (std::sqrt(v[i] / T(s.fix2)) + T(s.eps));
  }
}

}  // namespace fovea::naive
