#include "fovea/model/kernel_pooling.h"

#include <limits>

#include "fovea/op/elementwise.h"
#include "fovea/op/index.h"
#include "fovea/op/matmul.h"
#include "fovea/op/reduce.h"
#include "fovea/op/shape.h"
#include "fovea/op/softmax.h"

namespace fovea {
namespace {

// -|a_i - b_j|^2 / 2 = a.b - |a|^2 / 2 - |b|^2 / 2
Tensor scores(const Tensor& a, const Tensor& b) {
  const Tensor squares_a = sum(square(a), -1, true);                    // [n_q, 1]
  const Tensor squares_b = reshape(sum(square(b), -1), {1, b.dim(0)});  // [1, n_k]
  return matmul(a, b, Transpose::b) - (squares_a + squares_b) * 0.5;    // [n_q, n_k]
}

}  // namespace

Tensor KernelPooling::weights(const Tensor& queries, const Tensor& keys) const {
  return softmax(scores(queries * w, keys * w));
}

Tensor KernelPooling::weights_of_others(const Tensor& keys) const {
  const int64_t n = keys.dim(0);
  Tensor others = Tensor::full({n, n}, 1, Dtype::i32);
  for (int64_t i = 0; i < n; ++i) others.write<int32_t>()[i * n + i] = 0;
  const Tensor k = keys * w;
  return softmax(where(others, scores(k, k), -std::numeric_limits<double>::infinity()));
}

}  // namespace fovea
