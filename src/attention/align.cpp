#include "fovea/attention/align.h"

#include "fovea/kernel/align.h"
#include "fovea/nn/linear.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/shape.h"

namespace fovea {
namespace {

// x [B, T, H, D] -> [B, T, H]: a learned number for each vector, w^T tanh(W x + b).
struct LearnedNumber {
  Linear inner, outer;
  LearnedNumber(Scope s, int64_t d)
      : inner(s / "inner", d, d), outer(s / "outer", d, 1, {.bias = false}) {}

  using Product = Tensor (*)(const Tensor& x, const Tensor& weight, const Tensor& bias);
  Tensor operator()(const Tensor& x, Product product = linear) const {
    const Tensor h = tanh(product(x, inner.weight, *inner.bias));
    return reshape(product(h, outer.weight, {}), {x.dim(0), x.dim(1), x.dim(2)});
  }
};

}  // namespace

Alignment softmax_alignment() { return {}; }
Alignment sigmoid_alignment() { return {.kind = Alignment::Kind::sigmoid}; }
Alignment sparsemax_alignment() { return entmax_alignment(2); }

Alignment entmax_alignment(double alpha) {
  check(alpha > 1 && alpha <= 2, "entmax: alpha must be in (1, 2], got ", alpha);
  return {.kind = Alignment::Kind::entmax, .alpha = alpha};
}

Alignment local_alignment(Scope s, int64_t d_q, double reach) {
  check(reach > 0, "local alignment: the window must reach further than 0, got ", reach);
  const LearnedNumber place(s, d_q);
  return {.kind = Alignment::Kind::local,
          .reach = reach,
          // In float64: n times a rounding error of float32 shows in the weights from n = 100 on.
          .center = [place](const Tensor& q, int64_t n) {
            return sigmoid(place(q, precise_linear)) * static_cast<double>(n);
          }};
}

Alignment hard_alignment(Alignment::Estimator estimator) {
  return {.kind = Alignment::Kind::hard, .estimator = estimator};
}

Alignment reinforced_alignment(Scope s, int64_t d_k) {
  return {.kind = Alignment::Kind::reinforced, .keep = LearnedNumber(s, d_k)};
}

Tensor entmax(const Tensor& z, double alpha) {
  check(alpha > 1 && alpha <= 2, "entmax: alpha must be in (1, 2], got ", alpha);
  const int64_t cols = z.dim(-1), rows = z.shape().product(0, z.rank() - 1);
  Tensor p(z.shape(), z.dtype());
  with_real(z.dtype(), [&]<class T>(T) {
    kernel::entmax(p.write<T>().data(), z.read<T>().data(), rows, cols, alpha);
  });
  return record("entmax", {z}, p, [p, rows, cols, alpha](const Tensor& dp, InputGradients& dz) {
    Tensor g(p.shape(), p.dtype());
    with_real(p.dtype(), [&]<class T>(T) {
      kernel::entmax_grad(g.write<T>().data(), dp.read<T>().data(), p.read<T>().data(), rows, cols,
                          alpha);
    });
    dz.add(0, g);
  });
}

}  // namespace fovea
