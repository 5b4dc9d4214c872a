#include "fovea/op/norm.h"

#include "fovea/kernel/norm.h"

namespace fovea {

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double eps) {
  const int64_t cols = x.dim(-1), rows = x.shape().product(0, x.rank() - 1);
  check(cols > 0 && gamma.shape() == Shape{cols} && beta.shape() == gamma.shape(),
        "layer_norm: gamma and beta need shape [", cols, "], got ", gamma.shape(), " and ",
        beta.shape());
  Tensor y(x.shape(), x.dtype()), mean({rows}, x.dtype()), rstd({rows}, x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::layer_norm(y.write<T>().data(), mean.write<T>().data(), rstd.write<T>().data(),
                       x.read<T>().data(), gamma.read<T>().data(), beta.read<T>().data(), rows,
                       cols, static_cast<T>(eps));
  });
  return record("layer_norm", {x, gamma, beta}, y,
                [x, gamma, mean, rstd, rows, cols](const Tensor& dy, InputGradients& dx) {
                  const bool affine = dx.wants(1) || dx.wants(2);
                  Tensor* begun = dx.wants(0) ? dx.begun(0) : nullptr;
                  Tensor fresh, dgamma, dbeta;
                  if (dx.wants(0) && !begun) fresh = Tensor(x.shape(), x.dtype());
                  if (affine) {
                    dgamma = Tensor({cols}, x.dtype());
                    dbeta = Tensor({cols}, x.dtype());
                  }
                  with_real(x.dtype(), [&]<class T>(T) {
                    auto data = [](Tensor& t) { return t.empty() ? nullptr : t.write<T>().data(); };
                    const kernel::NormGradient<T> to{data(begun ? *begun : fresh), begun != nullptr,
                                                     data(dgamma), data(dbeta)};
                    kernel::layer_norm_grad(to, dy.read<T>().data(), x.read<T>().data(),
                                            gamma.read<T>().data(), mean.read<T>().data(),
                                            rstd.read<T>().data(), rows, cols);
                  });
                  if (!fresh.empty()) dx.add(0, std::move(fresh));
                  if (!affine) return;
                  dx.add(1, std::move(dgamma));
                  dx.add(2, std::move(dbeta));
                });
}

}  // namespace fovea
