#include "fovea/tensor/tensor.h"

#include <cstring>
#include <new>

#include "fovea/tensor/pool.h"

namespace fovea {

std::ostream& operator<<(std::ostream& out, Dtype dtype) {
  return out << (dtype == Dtype::f32 ? "float32" : dtype == Dtype::f64 ? "float64" : "int32");
}

// Header and elements share one pooled block, so an op costs one allocation.
Tensor::Block* Tensor::make(const Shape& shape, Dtype dtype, Block* owner) {
  constexpr size_t header = (sizeof(Block) + 63) / 64 * 64;
  const int64_t elements = shape.elements();
  const size_t bytes = owner ? 0 : elements * size_of(dtype);
  char* memory = static_cast<char*>(pool::take(header + bytes));
  auto* block = new (memory) Block{.dtype = dtype,
                                   .identity = {},
                                   .shape = shape,
                                   .elements = elements,
                                   .data = owner ? owner->data : memory + header,
                                   .owner = owner};
  if (owner) owner->users.fetch_add(1, std::memory_order_relaxed);
  return block;
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
  if (block_->users.load(std::memory_order_acquire) > 1 || block_->owner) {
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
