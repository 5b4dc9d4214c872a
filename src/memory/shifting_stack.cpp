#include "fovea/memory/shifting_stack.h"

namespace fovea {
namespace {

// The old cell i of `depth`, with what is pushed above and nothing below.
template <class T>
T old_cell(const T* s, T pushed, int64_t i, int64_t depth) {
  return i < 0 ? pushed : i < depth ? s[i] : T(-1);
}

}  // namespace

Tensor shifted_stacks(const Tensor& cells, const Tensor& pushed, const Tensor& actions,
                      int64_t deepest) {
  const int64_t B = pushed.dim(0), K = pushed.dim(1);
  const int64_t depth = cells.empty() ? 0 : cells.dim(2), after = std::min(depth + 1, deepest);
  check(actions.shape() == Shape({B, K, 3}), "stacks: need actions ", Shape({B, K, 3}), ", got ",
        actions.shape());
  Tensor y({B, K, after}, pushed.dtype());
  with_real(y.dtype(), [&]<class T>(T) {
    const T *s = depth > 0 ? cells.read<T>().data() : nullptr, *x = pushed.read<T>().data(),
            *a = actions.read<T>().data();
    T* to = y.write<T>().data();
    for (int64_t k = 0; k < B * K; ++k, to += after, a += 3) {
      const T* from = s + k * depth;
      for (int64_t i = 0; i < after; ++i) {
        to[i] = a[0] * old_cell(from, x[k], i - 1, depth) +
                a[1] * old_cell(from, x[k], i + 1, depth) + a[2] * old_cell(from, T(-1), i, depth);
      }
    }
  });
  return record(
      "shifted_stacks", {cells, pushed, actions}, y, [=](const Tensor& dy, InputGradients& dx) {
        with_real(dy.dtype(), [&]<class T>(T) {
          Tensor ds = depth > 0 ? Tensor::zeros(cells.shape(), dy.dtype()) : Tensor();
          Tensor dp = Tensor::zeros(pushed.shape(), dy.dtype());
          Tensor da = Tensor::zeros(actions.shape(), dy.dtype());
          const T *s = depth > 0 ? cells.read<T>().data() : nullptr, *x = pushed.read<T>().data(),
                  *a = actions.read<T>().data(), *d = dy.read<T>().data();
          T *to = depth > 0 ? ds.write<T>().data() : nullptr, *push = dp.write<T>().data(),
            *act = da.write<T>().data();
          for (int64_t k = 0; k < B * K; ++k, d += after, a += 3, act += 3) {
            const T* from = s + k * depth;
            const auto give = [&](int64_t i, T slope) {
              if (i < 0) {
                push[k] += slope;
              } else if (i < depth) {
                to[k * depth + i] += slope;
              }
            };
            for (int64_t i = 0; i < after; ++i) {
              act[0] += d[i] * old_cell(from, x[k], i - 1, depth);
              act[1] += d[i] * old_cell(from, x[k], i + 1, depth);
              act[2] += d[i] * old_cell(from, T(-1), i, depth);
              give(i - 1, a[0] * d[i]);
              give(i + 1, a[1] * d[i]);
              if (i < depth) give(i, a[2] * d[i]);
            }
          }
          if (depth > 0) dx.add(0, std::move(ds));
          dx.add(1, std::move(dp));
          dx.add(2, std::move(da));
        });
      });
}

}  // namespace fovea
