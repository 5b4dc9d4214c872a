#include "fovea/tensor/tensor.h"

#include <cstring>
#include <new>

#include "fovea/tensor/pool.h"

namespace fovea {

std::ostream& operator<<(std::ostream& out, Dtype dtype) {
  return out << (dtype == Dtype::f32 ? "float32" : dtype == Dtype::f64 ? "float64" : "int32");
}

// Header and elements share one pooled block, so an op costs one allocation.
Tensor::Block* Tensor::make(const Shape& shape, Dtype dtype, Block* owner, void* lent) {
  constexpr size_t header = (sizeof(Block) + 63) / 64 * 64;
  constexpr size_t most_bytes = size_t{PTRDIFF_MAX} - header;
  const int64_t elements = shape.elements();
  const bool elsewhere = owner || lent;
  check(elsewhere || static_cast<uint64_t>(elements) <= most_bytes / size_of(dtype),
        "tensor: ", shape, " of ", dtype, " has more bytes than can be addressed");
  const size_t bytes = elsewhere ? 0 : static_cast<size_t>(elements) * size_of(dtype);
  char* memory = static_cast<char*>(pool::take(header + bytes));
  auto* block = new (memory) Block{.dtype = dtype,
                                   .identity = {},
                                   .shape = shape,
                                   .elements = elements,
                                   .data = owner  ? owner->data
                                           : lent ? lent
                                                  : memory + header,
                                   .owner = owner,
                                   .lent = lent != nullptr};
  if (owner) owner->users.fetch_add(1, std::memory_order_relaxed);
  return block;
}

Tensor Tensor::lent(const Shape& shape, Dtype dtype, const void* data, size_t count, bool read_only,
                    std::shared_ptr<const void> owner) {
  check_count(shape, shape.elements(), count);
  if (count == 0) return Tensor(shape, dtype);
  check(data != nullptr, "tensor: cannot borrow ", count, " elements at a null pointer");
  check(reinterpret_cast<uintptr_t>(data) % size_of(dtype) == 0, "tensor: borrowed ", dtype,
        " must lie at a multiple of ", size_of(dtype), " bytes");
  Tensor t;
  t.block_ = make(shape, dtype, nullptr, const_cast<void*>(data));
  t.block_->read_only = read_only;
  t.block_->lender = std::move(owner);
  return t;
}

void Tensor::drop(Block* block) {
  while (block && block->users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Block* owner = block->owner;
    block->~Block();
    pool::release(block);
    block = owner;
  }
}

Tensor::Tensor(const Shape& shape, Dtype dtype) : block_(make(shape, dtype, nullptr)) {}

void Tensor::own() {
  if (block_->users.load(std::memory_order_acquire) > 1 || block_->owner || block_->read_only) {
    Tensor copy(block_->shape, block_->dtype);
    std::memcpy(copy.block_->data, block_->data, block_->elements * size_of(block_->dtype));
    copy.block_->identity.parameter = block_->identity.parameter;
    std::swap(block_, copy.block_);
  } else {
    block_->identity.tape = 0;  // what the tape recorded was the value before this write
  }
}

Tensor Tensor::zeros(const Shape& shape, Dtype dtype) {
  Tensor t(shape, dtype);
  std::memset(t.block_->data, 0, t.elements() * size_of(dtype));
  return t;
}

Tensor Tensor::full(const Shape& shape, double value, Dtype dtype) {
  Tensor t(shape, dtype);
  if (dtype == Dtype::i32) {
    std::ranges::fill(t.write<int32_t>(), static_cast<int32_t>(value));
  } else {
    with_real(dtype, [&]<class T>(T) { std::ranges::fill(t.write<T>(), static_cast<T>(value)); });
  }
  return t;
}

double Tensor::item() const {
  check(elements() == 1, "item: needs an array of one element, got shape ", shape());
  if (dtype() == Dtype::i32) return read<int32_t>()[0];
  return with_real(dtype(), [&]<class T>(T) { return static_cast<double>(read<T>()[0]); });
}

Tensor Tensor::reshaped(const Shape& wanted) const {
  check(wanted.elements() == elements(), "reshape: ", shape(), " has ", elements(),
        " elements, the shape asked for, ", wanted, ", has ", wanted.elements());
  Tensor view;
  Block* base = block_->owner ? block_->owner : block_;
  view.block_ = make(wanted, dtype(), base);
  view.block_->data = block_->data;
  return view;
}

Tensor Tensor::to(Dtype wanted) const {
  if (wanted == dtype()) return *this;
  Tensor result(shape(), wanted);
  auto convert = [&]<class From, class To>(From, To) {
    std::ranges::transform(read<From>(), result.write<To>().begin(),
                           [](From x) { return static_cast<To>(x); });
  };
  auto from = [&]<class From>(From f) {
    if (wanted == Dtype::i32) return convert(f, int32_t{});
    with_real(wanted, [&](auto to) { convert(f, to); });
  };
  if (dtype() == Dtype::i32) {
    from(int32_t{});
  } else {
    with_real(dtype(), from);
  }
  return result;
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (tensor.empty()) return out << "(empty)";
  out << tensor.dtype() << tensor.shape() << " {";
  constexpr int64_t shown = 8;
  const Tensor values = tensor.to(Dtype::f64);
  const auto x = values.read<double>();
  for (int64_t i = 0; i < std::min<int64_t>(shown, x.size()); ++i) out << (i ? ", " : "") << x[i];
  return out << (tensor.elements() > shown ? ", ...}" : "}");
}

}  // namespace fovea
