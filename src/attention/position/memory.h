// Position encoding of the words of a sentence in a memory: Sukhbaatar, Szlam, Weston, Fergus,
// "End-To-End Memory Networks", 2015.
//   m = sum_j l_j o x_j,   l_kj = (1 - j/J) - (k/d)(1 - 2j/J),   j = 1 ... J words, k = 1 ... d
//   features
#pragma once

#include "fovea/tensor/tensor.h"

namespace fovea {

// [J, d], to be multiplied with the words' embeddings before they are summed.
inline Tensor memory_position(int64_t J, int64_t d, Dtype dtype = Dtype::f32) {
  check(J >= 0 && d >= 1, "memory position: needs words and features, got ", J, " and ", d);
  Tensor l({J, d}, Dtype::f64);
  auto to = l.write<double>().begin();
  for (int64_t j = 1; j <= J; ++j) {
    const double along = static_cast<double>(j) / static_cast<double>(J);
    for (int64_t k = 1; k <= d; ++k) {
      *to++ = (1 - along) - static_cast<double>(k) / static_cast<double>(d) * (1 - 2 * along);
    }
  }
  return l.to(dtype);
}

}  // namespace fovea
