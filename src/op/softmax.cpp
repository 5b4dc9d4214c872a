#include "fovea/op/softmax.h"

#include "fovea/kernel/softmax.h"
#include "fovea/op/elementwise.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

int64_t rows_of(const Tensor& x) { return x.shape().product(0, x.rank() - 1); }

}  // namespace

Tensor softmax(const Tensor& x) {
  Tensor y(x.shape(), x.dtype());
  const int64_t rows = rows_of(x), cols = x.dim(-1);
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::softmax(y.write<T>().data(), x.read<T>().data(), rows, cols);
  });
  return record("softmax", {x}, y, [y, rows, cols](const Tensor& dy, InputGradients& dx) {
    Tensor g(y.shape(), y.dtype());
    with_real(y.dtype(), [&]<class T>(T) {
      kernel::softmax_grad(g.write<T>().data(), dy.read<T>().data(), y.read<T>().data(), rows,
                           cols);
    });
    dx.add(0, g);
  });
}

Tensor log_softmax(const Tensor& x) {
  Tensor y(x.shape(), x.dtype());
  const int64_t rows = rows_of(x), cols = x.dim(-1);
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::log_softmax(y.write<T>().data(), x.read<T>().data(), rows, cols);
  });
  return record("log_softmax", {x}, y, [y, rows, cols](const Tensor& dy, InputGradients& dx) {
    Tensor g(y.shape(), y.dtype());
    with_real(y.dtype(), [&]<class T>(T) {
      kernel::log_softmax_grad(g.write<T>().data(), dy.read<T>().data(), y.read<T>().data(), rows,
                               cols);
    });
    dx.add(0, g);
  });
}

Tensor cross_entropy_each(const Tensor& logits, const Tensor& targets, double smoothing) {
  check(logits.rank() >= 1 &&
            Shape(std::span(logits.shape().begin(), logits.rank() - 1)) == targets.shape(),
        "cross_entropy: targets ", targets.shape(), " must have the shape of logits ",
        logits.shape(), " without their last axis");
  check(smoothing >= 0 && smoothing < 1, "cross_entropy: smoothing must be in [0, 1), got ",
        smoothing);
  const int64_t classes = logits.dim(-1);
  for (int32_t target : targets.read<int32_t>()) {
    check(target < classes, "cross_entropy: target ", target, " is outside [0, ", classes, ")");
  }
  const kernel::CrossEntropy how{rows_of(logits), classes, static_cast<float>(smoothing)};
  Tensor loss(targets.shape(), logits.dtype()), lse(targets.shape(), logits.dtype());
  with_real(logits.dtype(), [&]<class T>(T) {
    kernel::cross_entropy(how, loss.write<T>().data(), lse.write<T>().data(),
                          logits.read<T>().data(), targets.read<int32_t>().data());
  });
  return record("cross_entropy", {logits}, loss,
                [how, logits, targets, lse](const Tensor& dloss, InputGradients& dx) {
                  Tensor g(logits.shape(), logits.dtype());
                  with_real(g.dtype(), [&]<class T>(T) {
                    kernel::cross_entropy_grad(how, g.write<T>().data(), dloss.read<T>().data(),
                                               logits.read<T>().data(), lse.read<T>().data(),
                                               targets.read<int32_t>().data());
                  });
                  dx.add(0, g);
                });
}

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, double smoothing) {
  const Tensor each = cross_entropy_each(logits, targets, smoothing);
  const auto ids = targets.read<int32_t>();
  const auto counted = std::ranges::count_if(ids, [](int32_t id) { return id >= 0; });
  return sum(each) / static_cast<double>(std::max<int64_t>(1, counted));
}

}  // namespace fovea
