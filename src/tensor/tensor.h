// The array: contiguous, float32 (float64 for gradient checks, int32 for ids), a value. Copying one
// copies a pointer; the first write through one of several copies gives it memory of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/shape.h"

namespace fovea {

enum class Dtype : uint8_t { f32, f64, i32 };
std::ostream& operator<<(std::ostream& out, Dtype dtype);

template <class T>
constexpr Dtype dtype_of = [] {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> ||
                std::is_same_v<T, int32_t>);
  return std::is_same_v<T, float>    ? Dtype::f32
         : std::is_same_v<T, double> ? Dtype::f64
                                     : Dtype::i32;
}();
constexpr size_t size_of(Dtype dtype) { return dtype == Dtype::f64 ? 8 : 4; }

// Which value this is, for the tape: a parameter, the output of a recorded op, or neither.
struct Identity {
  uint32_t parameter = 0;  // not 0: a parameter's number, kept when it is written to
  uint32_t tape = 0;       // not 0: `node` of that tape; lost when it is written to
  int32_t node = -1;
};

class Tensor {
 public:
  Tensor() = default;                                             // holds nothing; empty() is true
  explicit Tensor(const Shape& shape, Dtype dtype = Dtype::f32);  // not initialised
  // A single number of rank 0.
  static Tensor scalar(double value, Dtype dtype = Dtype::f32) { return full({}, value, dtype); }
  static Tensor zeros(const Shape& shape, Dtype dtype = Dtype::f32);
  static Tensor full(const Shape& shape, double value, Dtype dtype = Dtype::f32);
  template <class T>
  static Tensor of(const Shape& shape, std::span<const T> values) {
    Tensor t(shape, dtype_of<T>);
    check(static_cast<int64_t>(values.size()) == t.elements(), "tensor: shape ", shape, " needs ",
          t.elements(), " values, got ", values.size());
    std::ranges::copy(values, t.write<T>().begin());
    return t;
  }
  template <class T>
  static Tensor of(const Shape& shape, const std::vector<T>& values) {
    return of(shape, std::span<const T>(values));
  }
  static Tensor of(const Shape& shape, std::initializer_list<float> values) {
    return of(shape, std::span<const float>(values.begin(), values.size()));
  }
  static Tensor ids(const Shape& shape, std::initializer_list<int32_t> values) {
    return of(shape, std::span<const int32_t>(values.begin(), values.size()));
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

  bool empty() const { return !block_; }
  const Shape& shape() const { return held().shape; }
  int rank() const { return shape().rank(); }
  int64_t dim(int axis) const { return shape()[axis]; }
  int64_t elements() const { return held().elements; }
  Dtype dtype() const { return held().dtype; }

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
    return {static_cast<const std::byte*>(held().data), elements() * size_of(dtype())};
  }
  std::span<std::byte> writable_bytes() {
    held();
    own();
    return {static_cast<std::byte*>(block_->data), elements() * size_of(dtype())};
  }

  // The number a one-element array holds.
  double item() const;
  // The same elements under another shape, without copying them. Not on the tape: reshape() in
  // op/shape.h is.
  Tensor reshaped(const Shape& shape) const;
  Tensor to(Dtype dtype) const;

  // For the tape. All copies of this value share its identity.
  const Identity& identity() const { return held().identity; }
  void set_identity(const Identity& identity) { held(), block_->identity = identity; }
  bool same_as(const Tensor& other) const { return block_ == other.block_; }

 private:
  struct Block {
    std::atomic<int32_t> users{1};
    Dtype dtype;
    Identity identity;
    Shape shape;
    int64_t elements;
    void* data;    // behind this header, or inside `owner`
    Block* owner;  // not null: a reshaped view keeps what it views alive
  };

  static Block* make(const Shape& shape, Dtype dtype, Block* owner);
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
  void own();

  Block* block_ = nullptr;
};

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

// Calls f(float{}) or f(double{}) as the array holds them.
template <class F>
decltype(auto) with_real(Dtype dtype, F&& f) {
  if (dtype == Dtype::f32) return f(float{});
  check(dtype == Dtype::f64, "tensor: this needs real numbers, got ", dtype);
  return f(double{});
}

}  // namespace fovea
