#include "fovea/attention/align/entmax.h"

#include "fovea/kernel/align.h"
#include "fovea/op/tape.h"

namespace fovea {
namespace {

void check_alpha(double alpha) {
  check(alpha > 1 && alpha <= 2, "entmax: alpha must be in (1, 2], got ", alpha);
}

}  // namespace

Alignment entmax_alignment(double alpha) {
  check_alpha(alpha);
  return {
      .name = alpha == 2 ? "sparsemax" : "entmax",
      .weights = [alpha](const Tensor& e,
                         const AlignmentStart&) { return AlignedWeights{entmax(e, alpha)}; },
      .rows = RowAlignment{.align = kernel::RowAlign::entmax, .alpha = static_cast<float>(alpha)}};
}

Alignment sparsemax_alignment() { return entmax_alignment(2); }

Tensor entmax(const Tensor& z, double alpha) {
  check_alpha(alpha);
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
