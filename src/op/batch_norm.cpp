#include "fovea/op/batch_norm.h"

#include <cmath>

#include "fovea/kernel/batch_norm.h"

namespace fovea {
namespace {

Tensor normalised(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                  const Tensor& variance, const BatchNormOptions& options, bool fixed) {
  const int64_t cols = x.dim(-1), rows = x.elements() / cols;
  Tensor y(x.shape(), x.dtype()), rstd({cols}, x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    const auto from = variance.read<T>();
    auto to = rstd.write<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = 1 / std::sqrt(from[i] + static_cast<T>(options.eps));
    }
  });
  const auto norm = [=, relu = options.relu]<class T>(T) {
    return kernel::BatchNorm<T>{.x = x.read<T>().data(),
                                .mean = mean.read<T>().data(),
                                .rstd = rstd.read<T>().data(),
                                .gamma = gamma.read<T>().data(),
                                .beta = beta.read<T>().data(),
                                .rows = rows,
                                .cols = cols,
                                .relu = relu};
  };
  with_real(x.dtype(), [&]<class T>(T t) { kernel::batch_norm(y.write<T>().data(), norm(t)); });
  return record("batch_norm", {x, gamma, beta}, y,
                [x, cols, norm, fixed](const Tensor& dy, InputGradients& dx) {
                  Tensor g, dgamma({cols}, x.dtype()), dbeta({cols}, x.dtype());
                  if (dx.wants(0)) g = Tensor(x.shape(), x.dtype());
                  with_real(x.dtype(), [&]<class T>(T t) {
                    kernel::batch_norm_grad(g.empty() ? nullptr : g.write<T>().data(),
                                            dgamma.write<T>().data(), dbeta.write<T>().data(),
                                            dy.read<T>().data(), norm(t), fixed);
                  });
                  if (dx.wants(0)) dx.add(0, std::move(g));
                  if (dx.wants(1)) dx.add(1, std::move(dgamma));
                  if (dx.wants(2)) dx.add(2, std::move(dbeta));
                });
}

void check_sizes(const Tensor& x, const Tensor& gamma, const Tensor& beta, const Tensor& mean,
                 const Tensor& variance) {
  check(x.rank() >= 1 && x.dim(-1) >= 1, "batch_norm: needs features, got ", x.shape());
  const Shape wanted{x.dim(-1)};
  for (const Tensor* one : {&gamma, &beta, &mean, &variance}) {
    check(one->shape() == wanted && one->dtype() == x.dtype(), "batch_norm: x ", x.dtype(), ' ',
          x.shape(), " needs gamma, beta, mean and variance of shape ", wanted, ", got ",
          one->dtype(), ' ', one->shape());
  }
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                  const BatchNormOptions& options, BatchStatistics* seen) {
  check_sizes(x, gamma, beta, gamma, beta);
  const int64_t cols = x.dim(-1), rows = x.elements() / cols;
  check(rows >= 1, "batch_norm: a batch without rows has no mean");
  Tensor mean({cols}, x.dtype()), variance({cols}, x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::column_moments(mean.write<T>().data(), variance.write<T>().data(), x.read<T>().data(),
                           rows, cols);
  });
  if (seen) {
    seen->mean = mean, seen->variance = variance, seen->unbiased = Tensor({cols}, x.dtype());
    const double factor = static_cast<double>(rows) / static_cast<double>(rows > 1 ? rows - 1 : 1);
    with_real(x.dtype(), [&]<class T>(T) {
      const auto from = variance.read<T>();
      auto to = seen->unbiased.write<T>();
      for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(from[i] * factor);
    });
  }
  return normalised(x, gamma, beta, mean, variance, options, false);
}

Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                  const FixedStatistics& fixed, const BatchNormOptions& options) {
  check_sizes(x, gamma, beta, fixed.mean, fixed.variance);
  return normalised(x, gamma, beta, fixed.mean, fixed.variance, options, true);
}

Tensor blended(const Tensor& a, const Tensor& b, double part) {
  check(a.shape() == b.shape() && a.dtype() == b.dtype(), "blended: needs equal shapes, got ",
        a.shape(), " and ", b.shape());
  Tensor y(a.shape(), a.dtype());
  with_real(a.dtype(), [&]<class T>(T) {
    const auto from = a.read<T>(), more = b.read<T>();
    auto to = y.write<T>();
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = static_cast<T>((1 - part) * from[i] + part * more[i]);
    }
  });
  return y;
}

}  // namespace fovea
