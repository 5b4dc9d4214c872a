#include "fovea/op/dropped.h"

#include "fovea/base/parallel.h"
#include "fovea/kernel/binary.h"
#include "fovea/kernel/dropout.h"
#include "fovea/kernel/grain.h"
#include "fovea/op/reduce.h"

namespace fovea {
namespace {

using kernel::Binary;
using kernel::Unary;

// Rows in chunks that stay in the cache from one step to the next.
struct Chunks {
  int64_t rows, C;
  double p;          // 0: nothing is dropped
  uint64_t key = 0;  // of the whole mask

  Chunks(const Tensor& x, double p, Random* random)
      : rows(x.shape().product(0, x.rank() - 1)), C(x.dim(-1)), p(p) {
    check(p >= 0 && p < 1, "dropout: p must be in [0, 1), got ", p);
    if (!random || !Tape::current()) this->p = 0;
    if (this->p > 0) key = random->bits64();
  }

  // f(first element, elements, rows)
  template <class F>
  void each(const F& f) const {
    parallel_for(rows, kernel::row_grain(kernel::heavy_grain, C),
                 [&](int64_t from, int64_t to) { f(from * C, (to - from) * C, to - from); });
  }
  template <class T>
  void drop(T* y, const T* x, int64_t at, int64_t n) const {
    kernel::dropout(y, x, n, p, key + static_cast<uint64_t>(at) * 0x9E3779B97F4A7C15U);
  }
  template <class T>
  void add_bias(T* y, const T* x, const Tensor& bias, int64_t n) const {
    kernel::binary(Binary::add, y, x, bias.read<T>().data(),
                   kernel::broadcast(Shape{n, C}, Shape{C}));
  }
};

void check_bias(const char* name, const Tensor& x, const Tensor& bias) {
  if (bias.empty()) return;
  check(bias.shape() == Shape{x.dim(-1)}, name, ": x ", x.shape(), " needs a bias [", x.dim(-1),
        "] or none, got ", bias.shape());
}

}  // namespace

Tensor add_dropped(const Tensor& x, const Tensor& y, const Tensor& bias, double p, Random* random) {
  check(x.shape() == y.shape(), "add_dropped: both need one shape, got ", x.shape(), " and ",
        y.shape());
  check_bias("add_dropped", x, bias);
  const Chunks chunks(x, p, random);
  Tensor sum(x.shape(), x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    const T *px = x.read<T>().data(), *py = y.read<T>().data();
    T* to = sum.write<T>().data();
    chunks.each([&](int64_t at, int64_t n, int64_t rows) {
      const T* part = py + at;
      if (!bias.empty()) chunks.add_bias(to + at, std::exchange(part, to + at), bias, rows);
      if (chunks.p > 0) chunks.drop(to + at, std::exchange(part, to + at), at, n);
      kernel::binary(Binary::add, to + at, px + at, part, kernel::broadcast(Shape{n}, Shape{n}));
    });
  });
  return record("add_dropped", {x, y, bias}, sum, [chunks](const Tensor& dy, InputGradients& dx) {
    Tensor g = dy;
    if (chunks.p > 0 && (dx.wants(1) || dx.wants(2))) {
      g = Tensor(dy.shape(), dy.dtype());
      with_real(dy.dtype(), [&]<class T>(T) {
        const T* from = dy.read<T>().data();
        T* to = g.write<T>().data();
        chunks.each(
            [&](int64_t at, int64_t n, int64_t) { chunks.drop(to + at, from + at, at, n); });
      });
    }
    if (dx.wants(2)) dx.add(2, sum_to(g.reshaped({chunks.rows, chunks.C}), {chunks.C}));
    dx.add(1, g);
    dx.add(0, dy);
  });
}

Tensor activate_dropped(Unary f, const Tensor& x, const Tensor& bias, double p, Random* random) {
  check(f == Unary::relu || f == Unary::gelu || f == Unary::gelu_tanh,
        "activate_dropped: takes relu, gelu and gelu_tanh");
  check_bias("activate_dropped", x, bias);
  const Chunks chunks(x, p, random);
  Tensor y(x.shape(), x.dtype());
  with_real(x.dtype(), [&]<class T>(T) {
    const T* from = x.read<T>().data();
    T* to = y.write<T>().data();
    chunks.each([&](int64_t at, int64_t n, int64_t rows) {
      const T* part = from + at;
      if (!bias.empty()) chunks.add_bias(to + at, std::exchange(part, to + at), bias, rows);
      kernel::unary(f, to + at, part, n, T(0), T(0));
      if (chunks.p > 0) chunks.drop(to + at, to + at, at, n);
    });
  });
  return record("activate_dropped", {x, bias}, y,
                [f, x, bias, chunks](const Tensor& dy, InputGradients& dx) {
                  Tensor g(x.shape(), x.dtype());
                  with_real(x.dtype(), [&]<class T>(T) {
                    const T *px = x.read<T>().data(), *from = dy.read<T>().data();
                    T* to = g.write<T>().data();
                    chunks.each([&](int64_t at, int64_t n, int64_t rows) {
                      thread_local std::vector<T> room;
                      const T *at_x = px + at, *slope = from + at;
                      if (!bias.empty()) {
                        room.resize(n);
                        chunks.add_bias(room.data(), std::exchange(at_x, room.data()), bias, rows);
                      }
                      if (chunks.p > 0) chunks.drop(to + at, std::exchange(slope, to + at), at, n);
                      kernel::unary_grad(f, to + at, slope, at_x, at_x, n, T(0), T(0));
                    });
                  });
                  if (dx.wants(1))
                    dx.add(1, sum_to(g.reshaped({chunks.rows, chunks.C}), bias.shape()));
                  dx.add(0, g);
                });
}

}  // namespace fovea
