// The array: contiguous, float32 (float64 for gradient checks, int32 for ids), a value. Copying one
// copies a pointer; the first write through one of several copies gives it memory of its own.
//
// An array can lie in memory that is not ours (borrow, borrow_to_write). That memory must stay
// where it is, and unchanged but through this array, as long as any copy, reshaped view or tape
// that recorded an op on it lives; with an owner, a shared_ptr, it is kept alive as long.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/shape.h"

namespace fovea {

// What the elements are.
enum class Dtype : uint8_t { f32, f64, i32 };
std::ostream& operator<<(std::ostream& out, Dtype dtype);

// The Dtype of float, double and int32_t.
template <class T>
constexpr Dtype dtype_of = [] {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> ||
                std::is_same_v<T, int32_t>);
  return std::is_same_v<T, float>    ? Dtype::f32
         : std::is_same_v<T, double> ? Dtype::f64
                                     : Dtype::i32;
}();
// Elements in memory, one after the other: a span, a vector, an array, of a type that an array can
// hold.
template <class R>
concept Elements = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    (std::is_same_v<std::ranges::range_value_t<R>, float> ||
     std::is_same_v<std::ranges::range_value_t<R>, double> ||
     std::is_same_v<std::ranges::range_value_t<R>, int32_t>);
// Bytes of one element.
constexpr size_t size_of(Dtype dtype) { return dtype == Dtype::f64 ? 8 : 4; }

// Which value this is, for the tape: a parameter, the output of a recorded op, or neither.
struct Identity {
  uint32_t parameter = 0;  // not 0: a parameter's number, kept when it is written to
  uint32_t tape = 0;       // not 0: `node` of that tape; lost when it is written to
  int32_t node = -1;       // the op's place on that tape
};

// An array. What only asks is const, and several threads may call it on one Tensor at a time.
class Tensor {
 public:
  Tensor() = default;                                             // holds nothing; empty() is true
  explicit Tensor(const Shape& shape, Dtype dtype = Dtype::f32);  // not initialised
  // A single number of rank 0.
  static Tensor scalar(double value, Dtype dtype = Dtype::f32) { return full({}, value, dtype); }
  // Elements that are all equal.
  static Tensor zeros(const Shape& shape, Dtype dtype = Dtype::f32);
  static Tensor full(const Shape& shape, double value, Dtype dtype = Dtype::f32);
  // These elements, row by row; an Error unless there are as many as the shape says.
  template <Elements R>
  static Tensor of(const Shape& shape, const R& values) {
    using T = std::ranges::range_value_t<R>;
    Tensor t(shape, dtype_of<T>);
    check_count(shape, t.elements(), std::ranges::size(values));
    std::ranges::copy(values, t.write<T>().begin());
    return t;
  }
  static Tensor of(const Shape& shape, std::initializer_list<float> values) {
    return of(shape, std::span<const float>(values.begin(), values.size()));
  }
  // The same for integers.
  static Tensor ids(const Shape& shape, std::initializer_list<int32_t> values) {
    return of(shape, std::span<const int32_t>(values.begin(), values.size()));
  }
  // These elements where they lie, never written to: a write to the array copies them first.
  template <Elements R>
  requires std::ranges::borrowed_range<R>
  static Tensor borrow(const Shape& shape, R&& values, std::shared_ptr<const void> owner = {}) {
    using T = std::ranges::range_value_t<R>;
    return lent(shape, dtype_of<T>, std::ranges::data(values), std::ranges::size(values), true,
                std::move(owner));
  }
  // The same in memory that may be written to: write() goes there as long as this is the only
  // handle of the array; a write through one of several copies gives that one memory of its own.
  template <Elements R>
  requires std::ranges::borrowed_range<R> &&
      (!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)static Tensor
      borrow_to_write(const Shape& shape, R&& values, std::shared_ptr<const void> owner = {}) {
    using T = std::ranges::range_value_t<R>;
    return lent(shape, dtype_of<T>, std::ranges::data(values), std::ranges::size(values), false,
                std::move(owner));
  }
  // A vector's elements, which the array keeps instead of copying them.
  template <class T>
  static Tensor adopt(const Shape& shape, std::vector<T>&& values) {
    const auto kept = std::make_shared<std::vector<T>>(std::move(values));
    return borrow_to_write(shape, *kept, kept);
  }

  Tensor(const Tensor& other) : block_(other.block_) {
    if (block_) block_->users.fetch_add(1, std::memory_order_relaxed);
  }
  Tensor(Tensor&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Tensor() {
    if (block_) drop(block_);
  }

  // Whether it holds nothing; then all else is an Error.
  bool empty() const { return !block_; }
  // The sizes of its axes, outermost first; negative axes count from the last.
  const Shape& shape() const { return held().shape; }
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const { return shape()[axis]; }
  // Whether the elements lie in memory that is not ours.
  bool borrowed() const { return held().lent || (block_->owner && block_->owner->lent); }
  // How many elements there are, and of what type.
  int64_t elements() const { return held().elements; }
  Dtype dtype() const { return held().dtype; }

  // The elements, row by row, valid while nobody writes to this value; an Error for another type.
  template <class T = float>
  std::span<const T> read() const {
    need<T>();
    return {static_cast<const T*>(block_->data), static_cast<size_t>(block_->elements)};
  }
  // Memory that nobody else sees: if this value is shared, it is copied first.
  template <class T = float>
  std::span<T> write() {
    need<T>();
    own();
    return {static_cast<T*>(block_->data), static_cast<size_t>(block_->elements)};
  }
  // The bytes, whatever they hold.
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(held().data), byte_count()};
  }
  std::span<std::byte> writable_bytes() {
    held();
    own();
    return {static_cast<std::byte*>(block_->data), byte_count()};
  }

  // The number a one-element array holds.
  double item() const;
  // The same elements under another shape, without copying them. Not on the tape: reshape() in
  // op/shape.h is.
  Tensor reshaped(const Shape& shape) const;
  // The elements as another type, as a cast converts them.
  Tensor to(Dtype dtype) const;

  // For the tape. All copies of this value share its identity.
  const Identity& identity() const { return held().identity; }
  void set_identity(const Identity& identity) { held(), block_->identity = identity; }
  // Whether both are copies of one value.
  bool same_as(const Tensor& other) const { return block_ == other.block_; }

 private:
  struct Block {
    std::atomic<int32_t> users{1};
    Dtype dtype;
    Identity identity;
    Shape shape;
    int64_t elements;
    void* data;    // behind this header, inside `owner`, or lent
    Block* owner;  // not null: a reshaped view keeps what it views alive
    bool lent = false, read_only = false;
    std::shared_ptr<const void> lender{};  // keeps lent memory alive, if it is there
  };

  static Block* make(const Shape& shape, Dtype dtype, Block* owner, void* lent = nullptr);
  static Tensor lent(const Shape& shape, Dtype dtype, const void* data, size_t count,
                     bool read_only, std::shared_ptr<const void> owner);
  static void check_count(const Shape& shape, int64_t elements, size_t count) {
    check(static_cast<int64_t>(count) == elements, "tensor: shape ", shape, " needs ", elements,
          " values, got ", count);
  }
  static void drop(Block* block);
  const Block& held() const {
    check(block_ != nullptr, "tensor: used before it was given a value");
    return *block_;
  }
  template <class T>
  void need() const {
    check(held().dtype == dtype_of<T>, "tensor: holds ", block_->dtype, ", asked for ",
          dtype_of<T>);
  }
  size_t byte_count() const { return static_cast<size_t>(block_->elements) * size_of(dtype()); }
  void own();

  Block* block_ = nullptr;
};

// Type, shape and the first few elements.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// Calls f(float{}) or f(double{}) as the array holds them.
template <class F>
decltype(auto) with_real(Dtype dtype, F&& f) {
  if (dtype == Dtype::f32) return f(float{});
  check(dtype == Dtype::f64, "tensor: this needs real numbers, got ", dtype);
  return f(double{});
}

}  // namespace fovea
