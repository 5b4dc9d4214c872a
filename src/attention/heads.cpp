#include "fovea/attention/heads.h"

#include "fovea/op/tape.h"

namespace fovea {
namespace {

// Calls f(row in order, place in memory) for every row of every head.
template <class F>
void walk(const Shape& shape, const Heads::Strides& s, const F& f) {
  int64_t row = 0;
  for (int64_t b = 0; b < shape[0]; ++b) {
    for (int64_t t = 0; t < shape[1]; ++t) {
      for (int64_t h = 0; h < shape[2]; ++h) {
        f(row++, s.offset + b * s.batch + t * s.row + h * s.head);
      }
    }
  }
}

}  // namespace

Heads Heads::head_major(Tensor x) {
  check(x.rank() == 4, "heads: head-major rows need 4 axes [B, H, T, D], got ", x.shape());
  const int64_t B = x.dim(0), H = x.dim(1), T = x.dim(2), D = x.dim(3);
  Heads heads(std::move(x));
  heads.layout_ = std::make_shared<Layout>(
      Layout{{B, T, H, D}, {.batch = H * T * D, .row = D, .head = T * D}, true});
  return heads;
}

Heads Heads::strided(Tensor memory, const Shape& shape, const Strides& s) {
  check(shape.rank() == 4, "heads: strided rows need a shape [B, T, H, D], got ", shape);
  const int64_t elements = memory.elements();
  const int64_t strides[] = {s.batch, s.row, s.head};
  int64_t last = s.offset;
  bool inside = s.offset >= 0 && s.offset <= elements;
  for (int axis = 0; axis < 3 && inside; ++axis) {
    const int64_t steps = shape[axis] - 1;
    inside = strides[axis] >= 0;
    if (steps < 1 || !inside) continue;
    inside = strides[axis] <= (elements - last) / steps;
    last += inside ? steps * strides[axis] : 0;
  }
  check(shape.elements() == 0 || (inside && shape[3] <= elements - last), "heads: rows of shape ",
        shape, " that begin at ", s.offset, " with strides of ", s.batch, " (batch), ", s.row,
        " (row) and ", s.head, " (head) elements leave an array of ", elements);
  Heads heads(std::move(memory));
  heads.layout_ =
      std::make_shared<Layout>(Layout{shape, shape.elements() == 0 ? Strides{} : s, false});
  return heads;
}

Heads::Strides Heads::strides() const {
  if (layout_) return layout_->strides;
  const Shape& s = memory_.shape();
  return {.batch = s[1] * s[2] * s[3], .row = s[2] * s[3], .head = s[3]};
}

Tensor Heads::rows() const {
  if (!layout_) return memory_;
  Tensor y(layout_->shape, dtype());
  with_real(dtype(), [&]<class T>(T) {
    const auto from = memory_.read<T>();
    auto to = y.write<T>();
    const int64_t D = dim(3);
    walk(layout_->shape, layout_->strides,
         [&](int64_t row, int64_t at) { std::copy_n(from.data() + at, D, to.data() + row * D); });
  });
  return record("heads", {memory_}, y,
                [memory = memory_.shape(), layout = layout_](const Tensor& dy, InputGradients& dx) {
                  Tensor sum = Tensor::zeros(memory, dy.dtype());
                  with_real(dy.dtype(), [&]<class T>(T) {
                    const auto from = dy.read<T>();
                    auto to = sum.write<T>();
                    const int64_t D = layout->shape[3];
                    walk(layout->shape, layout->strides, [&](int64_t row, int64_t at) {
                      for (int64_t d = 0; d < D; ++d) to[at + d] += from[row * D + d];
                    });
                  });
                  dx.add(0, sum);
                });
}

Heads Heads::to_record() const {
  return !layout_ || layout_->whole || !Tape::current() ? *this : Heads(rows());
}

}  // namespace fovea
