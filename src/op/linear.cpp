#include "fovea/op/linear.h"

#include <algorithm>
#include <memory>
#include <span>

#include "fovea/kernel/binary.h"
#include "fovea/kernel/dropout.h"
#include "fovea/kernel/gemm.h"
#include "fovea/kernel/precise.h"
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

// y [rows, out] = x weight^T + bias.
template <class T>
kernel::GemmItem<T> forward(const Tensor& x, const Tensor& weight, const Tensor& bias, T* y) {
  const int64_t in = weight.dim(1), out = weight.dim(0);
  return {
      {.transpose_b = true, .m = rows_of(x), .n = out, .k = in, .lda = in, .ldb = in, .ldc = out},
      x.read<T>().data(),
      weight.read<T>().data(),
      y,
      bias.empty() ? nullptr : bias.read<T>().data()};
}

// dx [rows, in] = dy weight, or added to what is there.
template <class T>
kernel::GemmItem<T> backward(const Tensor& dy, const Tensor& weight, T* dx, bool add) {
  const int64_t in = weight.dim(1), out = weight.dim(0);
  return {{.m = rows_of(dy),
           .n = in,
           .k = out,
           .lda = out,
           .ldb = in,
           .ldc = in,
           .beta = add ? 1.0f : 0.0f},
          dy.read<T>().data(),
          weight.read<T>().data(),
          dx};
}

template <class T>
void run(const kernel::GemmItem<T>& item, const ChunkBody* then = nullptr) {
  kernel::gemm(item.g, item.a, item.b, item.c, item.bias, then);
}

// One product with a weight: its input and the gradient of its output, and the weight itself, which
// is the op's input number `at`; the bias is the next.
struct Part {
  const Tensor &dy, &x, &weight;
  int at;
};

// The gradient of the input that all parts share, the op's number `at`.
void give_input(InputGradients& dx, int at, std::span<const Part> parts) {
  if (!dx.wants(at)) return;
  Tensor* begun = dx.begun(at);
  Tensor fresh = begun ? Tensor() : Tensor(parts[0].x.shape(), parts[0].x.dtype());
  with_real(parts[0].x.dtype(), [&]<class T>(T) {
    std::vector<kernel::GemmItem<T>> items;
    Tensor& into = begun ? *begun : fresh;
    T* to = into.write<T>().data();
    for (const Part& p : parts) {
      items.push_back(backward<T>(p.dy, p.weight, to, begun || !items.empty()));
    }
    kernel::gemm_group(std::span<const kernel::GemmItem<T>>(items));
  });
  if (!begun) dx.add(at, std::move(fresh));
}

// The gradients of weights and biases. Of two parts with one weight only the first adds to its sum
// in place: products are made at the same time.
void give_weights(InputGradients& dx, std::span<const Part> parts) {
  std::vector<Tensor> weights(parts.size()), biases(parts.size());
  std::vector<Tensor*> taken;
  with_real(parts[0].x.dtype(), [&]<class T>(T) {
    std::vector<kernel::GemmItem<T>> items;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Part& p = parts[i];
      const int64_t out = p.weight.dim(0), in = p.weight.dim(1);
      if (!dx.wants(p.at)) {
        if (dx.wants(p.at + 1)) dx.add(p.at + 1, sum_to(p.dy, {out}));
        continue;
      }
      Tensor* begun = dx.begun(p.at);
      if (std::ranges::find(taken, begun) != taken.end()) begun = nullptr;
      taken.push_back(begun);
      if (!begun) weights[i] = Tensor({out, in}, p.x.dtype());
      if (dx.wants(p.at + 1)) biases[i] = Tensor({out}, p.x.dtype());
      items.push_back({{.transpose_a = true,
                        .m = out,
                        .n = in,
                        .k = rows_of(p.dy),
                        .lda = out,
                        .ldb = in,
                        .ldc = in,
                        .beta = begun ? 1.0f : 0.0f},
                       p.dy.template read<T>().data(),
                       p.x.template read<T>().data(),
                       (begun ? *begun : weights[i]).template write<T>().data(),
                       nullptr,
                       biases[i].empty() ? nullptr : biases[i].template write<T>().data()});
    }
    kernel::gemm_group(std::span<const kernel::GemmItem<T>>(items));
  });
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!weights[i].empty()) dx.add(parts[i].at, std::move(weights[i]));
    if (!biases[i].empty()) dx.add(parts[i].at + 1, std::move(biases[i]));
  }
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
  with_real(y.dtype(), [&]<class T>(T) { run(forward<T>(x, weight, bias, y.write<T>().data())); });
  return record("linear", {x, weight, bias}, y, [x, weight](const Tensor& dy, InputGradients& dx) {
    const Part part{dy, x, weight, 1};
    give_input(dx, 0, {&part, 1});
    give_weights(dx, {&part, 1});
  });
}

Tensor precise_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  if (weight.dtype() == Dtype::f64) return linear(x, weight, bias);
  Tensor y(with_features(x, weight.dim(0)), Dtype::f64);
  with_real(x.dtype(), [&]<class T>(T) {
    kernel::precise_linear(y.write<double>().data(), x.read<T>().data(), weight.read().data(),
                           bias.empty() ? nullptr : bias.read().data(), rows_of(x), weight.dim(0),
                           weight.dim(1));
  });
  return record("precise_linear", {x, weight, bias}, y,
                [x, weight](const Tensor& dy, InputGradients& dx) {
                  const Tensor slope = dy.to(x.dtype()), like_x = weight.to(x.dtype());
                  const Part input{slope, x, like_x, 1};
                  give_input(dx, 0, {&input, 1});
                  const Tensor narrow = dy.to(Dtype::f32), narrow_x = x.to(Dtype::f32);
                  const Part weights{narrow, narrow_x, weight, 1};
                  give_weights(dx, {&weights, 1});
                });
}

std::vector<Tensor> linears(const Tensor& x, std::vector<LinearWeights> weights) {
  std::vector<Tensor> y;
  for (const auto& [weight, bias] : weights) {
    check_linear(x, weight, bias);
    y.emplace_back(with_features(x, weight.dim(0)), x.dtype());
  }
  with_real(x.dtype(), [&]<class T>(T) {
    std::vector<kernel::GemmItem<T>> items;
    for (size_t i = 0; i < y.size(); ++i) {
      const auto& [weight, bias] = weights[i];
      items.push_back(forward<T>(x, weight, bias, y[i].template write<T>().data()));
    }
    kernel::gemm_group(std::span<const kernel::GemmItem<T>>(items));
  });
  if (!Tape::current()) return y;
  // An op has one output. So the products together are an op whose output is a token, and every y
  // is one that makes it of the token: its adjoint lays its gradient by and calls for the token's,
  // whose turn comes when all that were wanted have been laid by.
  auto slopes = std::make_shared<std::vector<Tensor>>(y.size());
  std::vector<Tensor> inputs{x};
  for (const auto& [weight, bias] : weights) inputs.insert(inputs.end(), {weight, bias});
  const Tensor token =
      record("linears", std::span<const Tensor>(inputs), Tensor::zeros({1}, x.dtype()),
             [x, slopes, weights = std::move(weights)](const Tensor&, InputGradients& dx) {
               std::vector<Part> parts;
               for (size_t i = 0; i < weights.size(); ++i) {
                 if ((*slopes)[i].empty()) continue;
                 parts.push_back({(*slopes)[i], x, weights[i].weight, static_cast<int>(1 + 2 * i)});
               }
               give_input(dx, 0, parts);
               give_weights(dx, parts);
             });
  for (size_t i = 0; i < y.size(); ++i) {
    y[i] = record("linears", {token}, y[i], [slopes, i](const Tensor& dy, InputGradients& dx) {
      (*slopes)[i] = dy;
      if (!dx.begun(0)) dx.add(0, Tensor::zeros({1}, dy.dtype()));
    });
  }
  return y;
}

Tensor feed_forward(const Tensor& residual, const Tensor& x, const FeedForwardWeights& w,
                    kernel::Unary f, double p) {
  check_linear(x, w.inner, w.inner_bias);
  const int64_t hidden = w.inner.dim(0), out = w.outer.dim(0);
  Tensor h(with_features(x, hidden), x.dtype()), y(with_features(x, out), x.dtype());
  check_linear(h, w.outer, w.outer_bias);
  check(residual.shape() == y.shape(), "feed_forward: the residual needs shape ", y.shape(),
        ", got ", residual.shape());
  Tensor slopes = Tape::current() ? Tensor(h.shape(), h.dtype()) : Tensor();
  const kernel::Drop inside = draw_drop(p), last = draw_drop(p);
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
    run(forward<T>(x, w.inner, w.inner_bias, to_h), &then_activate);
    run(forward<T>(h, w.outer, w.outer_bias, to_y), &then_add);
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
        const Part second{g, h, outer, 4};
        give_weights(dx, {&second, 1});
        Tensor dh(h.shape(), h.dtype());
        with_real(dh.dtype(), [&]<class T>(T) {
          T* to = dh.write<T>().data();
          const T* by = slopes.read<T>().data();
          auto steepen = [&](int64_t begin, int64_t end) {
            multiply_rows(to, by, begin, end, h.dim(-1));
          };
          const ChunkBody then(steepen);
          run(backward<T>(g, outer, to, false), &then);
        });
        const Part first{dh, x, inner, 2};
        give_weights(dx, {&first, 1});
        give_input(dx, 1, {&first, 1});
      });
}

}  // namespace fovea
