// Plain twin of kernel/precise.
#pragma once

#include <cstdint>

namespace fovea::naive {

template <class X>
void precise_linear(double* y, const X* x, const float* w, const float* bias, int64_t rows,
                    int64_t out, int64_t in) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < out; ++j) {
      double sum = bias ? static_cast<double>(bias[j]) : 0;
      for (int64_t l = 0; l < in; ++l) sum += double(x[i * in + l]) * double(w[j * in + l]);
      y[i * out + j] = sum;
    }
  }
}

}  // namespace fovea::naive
