// Queries, keys and values as they lie in memory. Arrays of this library are [B, T, H, D]; others
// have heads first, or rows with other things in between, and the kernels read those where they
// are.
//
//   attend({.q = Heads::head_major(q), .k = Heads::head_major(k), .v = Heads::head_major(v)});
#pragma once

#include <memory>

#include "fovea/kernel/attention.h"
#include "fovea/op/parameter.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// Rows of heads, [B, T, H, D] to whoever asks for its shape. As an array (it converts to one) it is
// the array it was made of, or a copy in that order where it lies otherwise.
class Heads {
 public:
  // How far apart batch entries, rows and heads begin, in elements, and where the first one does.
  // The D features of a row of a head lie side by side.
  struct Strides {
    int64_t batch = 0, row = 0, head = 0, offset = 0;  // all in elements
  };

  Heads() = default;
  // [B, T, H, D], as ops give it.
  Heads(Tensor rows) : memory_(std::move(rows)) {}         // NOLINT: implicit on purpose
  Heads(const Parameter& rows) : memory_(rows.value()) {}  // NOLINT: implicit on purpose
  // [B, H, T, D].
  static Heads head_major(Tensor x);
  // Any part of any array, of `shape` [B, T, H, D]; an Error where it would leave the array. A
  // stride of 0 shows one thing many times.
  static Heads strided(Tensor memory, const Shape& shape, const Strides& strides);

  // Whether there is nothing.
  bool empty() const { return memory_.empty(); }
  // As of an array [B, T, H, D].
  const Shape& shape() const { return layout_ ? layout_->shape : memory_.shape(); }
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const { return shape()[axis]; }
  int64_t elements() const { return shape().elements(); }
  Dtype dtype() const { return memory_.dtype(); }

  // The array that it looks at, and whether that is [B, T, H, D] as it stands.
  const Tensor& memory() const { return memory_; }
  bool plain() const { return !layout_; }
  // [B, T, H, D], on the tape: the array itself where it is that, else a copy.
  Tensor rows() const;
  operator Tensor() const { return rows(); }  // NOLINT: implicit on purpose

  // The same where a gradient can be written to memory laid out as this is; what overlaps or leaves
  // gaps is copied. Without a tape nothing is.
  Heads to_record() const;
  // What kernels take: rows in `data`, which is laid out as memory() is.
  template <class T>
  kernel::HeadView<T> over(T* data) const {
    const Strides s = strides();
    return {data + s.offset, s.batch, s.row, s.head};
  }
  kernel::HeadView<const float> view() const { return over(memory_.read().data()); }

 private:
  struct Layout {
    Shape shape;
    Strides strides;
    bool whole;  // every element of the memory is shown once
  };
  Strides strides() const;

  Tensor memory_;
  std::shared_ptr<const Layout> layout_;  // null: plain
};

}  // namespace fovea
