// The sizes of an array's axes, outermost first. Lives on the stack: no shape ever allocates.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

#include "fovea/base/error.h"

namespace fovea {

class Shape {
 public:
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims) {
    check(dims.size() <= max_rank, "shape: at most ", max_rank, " axes, got ", dims.size());
    for (int64_t dim : dims) push_back(dim);
  }

  int rank() const { return rank_; }

  // Axis i; negative counts from the last, so dim(-1) is the feature axis.
  int64_t operator[](int axis) const { return dims_[index(axis)]; }
  void set(int axis, int64_t dim) { dims_[index(axis)] = dim; }
  void push_back(int64_t dim) {
    check(rank_ < max_rank, "shape: at most ", max_rank, " axes");
    check(dim >= 0, "shape: an axis cannot have size ", dim);
    dims_[rank_++] = dim;
  }

  // The place of an axis counted from the front, with negative axes counted from the back.
  int index(int axis) const {
    const int at = axis < 0 ? axis + rank_ : axis;
    check(at >= 0 && at < rank_, "shape: no axis ", axis, " in ", *this);
    return at;
  }

  int64_t elements() const { return product(0, rank_); }
  // Product of the axes [from, to).
  int64_t product(int from, int to) const {
    int64_t n = 1;
    for (int i = from; i < to; ++i) n *= dims_[i];
    return n;
  }

  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    out << '[';
    for (int i = 0; i < shape.rank_; ++i) out << (i ? ", " : "") << shape.dims_[i];
    return out << ']';
  }

 private:
  int rank_ = 0;
  std::array<int64_t, max_rank> dims_{};
};

}  // namespace fovea
