#include "fovea/memory/fuzzy_numbers.h"

#include <algorithm>

#include "fovea/op/shape.h"

namespace fovea {

int64_t certain(FuzzyOp f, int64_t a, int64_t b, int64_t M) {
  switch (f) {
    case FuzzyOp::add:
      return (a + b) % M;
    case FuzzyOp::subtract:
      return (a - b + M) % M;
    case FuzzyOp::less:
      return a < b;
    case FuzzyOp::less_equal:
      return a <= b;
    case FuzzyOp::equal:
      return a == b;
    case FuzzyOp::minimum:
      return std::min(a, b);
    case FuzzyOp::maximum:
      return std::max(a, b);
  }
  return 0;
}

Tensor fuzzy(FuzzyOp f, const Tensor& x, const Tensor& z) {
  const int64_t B = x.dim(0), M = x.dim(1);
  check(x.rank() == 2 && x.shape() == z.shape() && M >= 2,
        "fuzzy numbers: need two distributions [B, M] over at least two numbers, got ", x.shape(),
        " and ", z.shape());
  Tensor y = Tensor::zeros({B, M}, x.dtype());
  // Which result each pair gives, worked out once.
  std::vector<int32_t> result(static_cast<size_t>(M * M));
  for (int64_t a = 0; a < M; ++a) {
    for (int64_t b = 0; b < M; ++b)
      result[static_cast<size_t>(a * M + b)] = static_cast<int32_t>(certain(f, a, b, M));
  }
  with_real(y.dtype(), [&]<class T>(T) {
    T* to = y.write<T>().data();
    const T *p = x.read<T>().data(), *q = z.read<T>().data();
    for (int64_t i = 0; i < B; ++i, to += M, p += M, q += M) {
      for (int64_t a = 0; a < M; ++a) {
        for (int64_t b = 0; b < M; ++b) to[result[a * M + b]] += p[a] * q[b];
      }
    }
  });
  return record("fuzzy", {x, z}, y, [=](const Tensor& dy, InputGradients& dx) {
    Tensor to_x = Tensor::zeros(x.shape(), x.dtype()), to_z = Tensor::zeros(x.shape(), x.dtype());
    with_real(dy.dtype(), [&]<class T>(T) {
      T *dp = to_x.write<T>().data(), *dq = to_z.write<T>().data();
      const T *p = x.read<T>().data(), *q = z.read<T>().data(), *d = dy.read<T>().data();
      for (int64_t i = 0; i < B; ++i, dp += M, dq += M, p += M, q += M, d += M) {
        for (int64_t a = 0; a < M; ++a) {
          for (int64_t b = 0; b < M; ++b) {
            const T slope = d[result[a * M + b]];
            dp[a] += slope * q[b];
            dq[b] += slope * p[a];
          }
        }
      }
    });
    dx.add(0, std::move(to_x));
    dx.add(1, std::move(to_z));
  });
}

Tensor fuzzy_shifted(const Tensor& x, int64_t by) {
  const int64_t M = x.dim(1), at = (by % M + M) % M;
  if (at == 0) return x;
  return concat({slice(x, 1, M - at, M), slice(x, 1, 0, M - at)}, 1);
}

}  // namespace fovea
