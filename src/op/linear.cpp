#include "fovea/op/linear.h"

#include "fovea/kernel/binary.h"
#include "fovea/kernel/dropout.h"
#include "fovea/kernel/gemm.h"
#include "fovea/op/dropped.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check(weight.rank() == 2, "linear: the weight needs 2 axes [out, in], got ", weight.shape());
  check(x.rank() >= 1 && x.dim(-1) == weight.dim(1), "linear: needs ", weight.dim(1),
        " features, got x of shape ", x.shape());
  check(bias.empty() || bias.shape() == Shape{weight.dim(0)}, "linear: the bias needs shape [",
        weight.dim(0), "]");
}

int64_t rows_of(const Tensor& x) { return x.shape().product(0, x.rank() - 1); }

Shape with_features(const Tensor& x, int64_t features) {
  Shape shape = x.shape();
  shape.set(-1, features);
  return shape;
}

// y [rows, out] = x weight^T + bias; `then` as kernel::gemm calls it.
template <class T>
void forward(const Tensor& x, const Tensor& weight, const Tensor& bias, T* y,
             const ChunkBody* then = nullptr) {
  const int64_t in = weight.dim(1), out = weight.dim(0);
  kernel::gemm(
      {.transpose_b = true, .m = rows_of(x), .n = out, .k = in, .lda = in, .ldb = in, .ldc = out},
      x.read<T>().data(), weight.read<T>().data(), y,
      bias.empty() ? nullptr : bias.read<T>().data(), then);
}

// dx [rows, in] = dy weight, or added to what is there.
template <class T>
void backward(const Tensor& dy, const Tensor& weight, T* dx, bool add,
              const ChunkBody* then = nullptr) {
  const int64_t in = weight.dim(1), out = weight.dim(0);
  kernel::gemm({.m = rows_of(dy),
                .n = in,
                .k = out,
                .lda = out,
                .ldb = in,
                .ldc = in,
                .beta = add ? 1.0f : 0.0f},
               dy.read<T>().data(), weight.read<T>().data(), dx, static_cast<const T*>(nullptr),
               then);
}

// The gradient of the input x, which is the op's input number `at`.
void give_input(InputGradients& dx, int at, const Shape& shape, const Tensor& dy,
                const Tensor& weight) {
  if (!dx.wants(at)) return;
  Tensor* begun = dx.begun(at);
  Tensor fresh = begun ? Tensor() : Tensor(shape, dy.dtype());
  with_real(dy.dtype(), [&]<class T>(T) {
    backward<T>(dy, weight, (begun ? *begun : fresh).write<T>().data(), begun != nullptr);
  });
  if (!begun) dx.add(at, std::move(fresh));
}

// The gradients of weight and bias, the op's inputs `at` and `at` + 1.
void give_weights(InputGradients& dx, int at, const Tensor& dy, const Tensor& x) {
  const int64_t rows = rows_of(dy), out = dy.dim(-1), in = x.dim(-1);
  if (!dx.wants(at)) {
    if (dx.wants(at + 1)) dx.add(at + 1, sum_to(dy, {out}));
    return;
  }
  Tensor* begun = dx.begun(at);
  Tensor fresh = begun ? Tensor() : Tensor({out, in}, dy.dtype());
  Tensor bias = dx.wants(at + 1) ? Tensor({out}, dy.dtype()) : Tensor();
  with_real(dy.dtype(), [&]<class T>(T) {
    const kernel::Gemm g{.transpose_a = true,
                         .m = out,
                         .n = in,
                         .k = rows,
                         .lda = out,
                         .ldb = in,
                         .ldc = in,
                         .beta = begun ? 1.0f : 0.0f};
    const T *from = dy.read<T>().data(), *with = x.read<T>().data();
    T* to = (begun ? *begun : fresh).write<T>().data();
    if (bias.empty()) return kernel::gemm(g, from, with, to);
    kernel::gemm_with_row_sums(g, from, with, to, bias.write<T>().data());
  });
  if (!begun) dx.add(at, std::move(fresh));
  if (!bias.empty()) dx.add(at + 1, std::move(bias));
}

// a *= b, rows [begin, end) of `cols`.
template <class T>
void multiply_rows(T* a, const T* b, int64_t begin, int64_t end, int64_t cols) {
  const int64_t n = (end - begin) * cols;
  a += begin * cols;
  kernel::binary(kernel::Binary::multiply, a, a, b + begin * cols, kernel::broadcast({n}, {n}));
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  Tensor y(with_features(x, weight.dim(0)), x.dtype());
  with_real(y.dtype(), [&]<class T>(T) { forward<T>(x, weight, bias, y.write<T>().data()); });
  return record("linear", {x, weight, bias}, y, [x, weight](const Tensor& dy, InputGradients& dx) {
    give_input(dx, 0, x.shape(), dy, weight);
    give_weights(dx, 1, dy, x);
  });
}

Tensor feed_forward(const Tensor& residual, const Tensor& x, const FeedForwardWeights& w,
                    kernel::Unary f, double p, Random* random) {
  check_linear(x, w.inner, w.inner_bias);
  const int64_t hidden = w.inner.dim(0), out = w.outer.dim(0);
  Tensor h(with_features(x, hidden), x.dtype()), y(with_features(x, out), x.dtype());
  check_linear(h, w.outer, w.outer_bias);
  check(residual.shape() == y.shape(), "feed_forward: the residual needs shape ", y.shape(),
        ", got ", residual.shape());
  Tensor slopes = Tape::current() ? Tensor(h.shape(), h.dtype()) : Tensor();
  const kernel::Drop inside = draw_drop(p, random), last = draw_drop(p, random);
  with_real(x.dtype(), [&]<class T>(T) {
    T *to_h = h.write<T>().data(), *to_y = y.write<T>().data();
    T* to_slopes = slopes.empty() ? nullptr : slopes.write<T>().data();
    const T* from = residual.read<T>().data();
    auto activate = [&](int64_t begin, int64_t end) {
      const int64_t first = begin * hidden;
      kernel::activate_dropped(f, to_h + first, to_slopes ? to_slopes + first : nullptr,
                               to_h + first, (end - begin) * hidden, {inside.p, inside.key, first});
    };
    auto add = [&](int64_t begin, int64_t end) {
      const int64_t first = begin * out;
      kernel::add_dropped(to_y + first, from + first, to_y + first, (end - begin) * out,
                          {last.p, last.key, first});
    };
    const ChunkBody then_activate(activate), then_add(add);
    forward<T>(x, w.inner, w.inner_bias, to_h, &then_activate);
    forward<T>(h, w.outer, w.outer_bias, to_y, &then_add);
  });
  return record(
      "feed_forward", {residual, x, w.inner, w.inner_bias, w.outer, w.outer_bias}, y,
      [x, h, slopes, inner = w.inner, outer = w.outer, last](const Tensor& dy, InputGradients& dx) {
        Tensor g = dy;
        if (last.p > 0) {
          g = Tensor(dy.shape(), dy.dtype());
          with_real(dy.dtype(), [&]<class T>(T) {
            kernel::dropout(g.write<T>().data(), dy.read<T>().data(), dy.elements(), last.p,
                            last.key);
          });
        }
        dx.add(0, dy);
        give_weights(dx, 4, g, h);
        Tensor dh(h.shape(), h.dtype());
        with_real(dh.dtype(), [&]<class T>(T) {
          T* to = dh.write<T>().data();
          const T* by = slopes.read<T>().data();
          auto steepen = [&](int64_t begin, int64_t end) {
            multiply_rows(to, by, begin, end, h.dim(-1));
          };
          const ChunkBody then(steepen);
          backward<T>(g, outer, to, false, &then);
        });
        give_weights(dx, 2, dh, x);
        give_input(dx, 1, x.shape(), dh, inner);
      });
}

}  // namespace fovea
