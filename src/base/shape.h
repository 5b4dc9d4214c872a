// The sizes of an array's axes, outermost first. Lives on the stack: no shape ever allocates.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

#include "fovea/base/error.h"

namespace fovea {

// Of at most max_rank axes, none of them negative.
class Shape {
 public:
  // The most axes an array may have.
  static constexpr int max_rank = 6;

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const int64_t> dims) {
    check(dims.size() <= size_t{max_rank}, "shape: at most ", max_rank, " axes, got ", dims.size());
    for (int64_t dim : dims) push_back(dim);
  }

  // How many axes there are.
  int rank() const { return static_cast<int>(rank_); }

  // Axis i; negative counts from the last, so dim(-1) is the feature axis.
  int64_t operator[](int axis) const { return dims_[place(axis)]; }
  // Gives an axis another size.
  void set(int axis, int64_t dim) {
    check(dim >= 0, "shape: an axis cannot have size ", dim);
    dims_[place(axis)] = dim;
  }
  // Adds an axis behind the last.
  void push_back(int64_t dim) {
    check(rank() < max_rank, "shape: at most ", max_rank, " axes");
    check(dim >= 0, "shape: an axis cannot have size ", dim);
    dims_[rank_++] = dim;
  }

  // The place of an axis counted from the front, with negative axes counted from the back.
  int index(int axis) const {
    const int at = axis < 0 ? axis + rank() : axis;
    check(at >= 0 && at < rank(), "shape: no axis ", axis, " in ", *this);
    return at;
  }

  // The product of all axes; an Error when there are more than an int64_t can count.
  int64_t elements() const { return product(0, rank()); }
  // Product of the axes [from, to).
  int64_t product(int from, int to) const {
    int64_t n = 1;
    bool none = false, too_many = false;
    for (int i = from; i < to; ++i) {
      const int64_t dim = dims_[static_cast<size_t>(i)];
      none |= dim == 0;
      too_many |= __builtin_mul_overflow(n, dim, &n);
    }
    check(none || !too_many, "shape: ", *this, " has more elements than 63 bits can count");
    return none ? 0 : n;
  }

  // The sizes, for loops over them.
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }

  friend bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape) {
    out << '[';
    for (size_t i = 0; i < shape.rank_; ++i) out << (i ? ", " : "") << shape.dims_[i];
    return out << ']';
  }

 private:
  size_t place(int axis) const { return static_cast<size_t>(index(axis)); }

  size_t rank_ = 0;
  std::array<int64_t, max_rank> dims_{};
};

}  // namespace fovea
