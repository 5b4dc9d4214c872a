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
                  with_real(x.dtype(), [&]<class T>(T) {
                    const T *py = dy.read<T>().data(), *px = x.read<T>().data();
                    const T *pm = mean.read<T>().data(), *pr = rstd.read<T>().data();
                    if (dx.wants(0)) {
                      Tensor g(x.shape(), x.dtype());
                      kernel::layer_norm_grad(g.write<T>().data(), py, px, gamma.read<T>().data(),
                                              pm, pr, rows, cols);
                      dx.add(0, g);
                    }
                    if (dx.wants(1) || dx.wants(2)) {
                      Tensor dgamma({cols}, x.dtype()), dbeta({cols}, x.dtype());
                      kernel::layer_norm_grad_affine(dgamma.write<T>().data(),
                                                     dbeta.write<T>().data(), py, px, pm, pr, rows,
                                                     cols);
                      dx.add(1, dgamma);
                      dx.add(2, dbeta);
                    }
                  });
                });
}

}  // namespace fovea
