// Working memory of one thread of a fused kernel: kept between calls, so a steady step allocates
// nothing, and grown to the largest request so far. The thread's end releases it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea::kernel {

class Scratch {
 public:
  // What a thread uses while it works on a chunk, and what a caller keeps while its chunks run: the
  // calling thread has both at once. A chunk of attention or convolution may multiply matrices
  // inside, so these have pieces of their own.
  enum Kind { chunk, call, product_chunk, product_call };

  // Starts a new set of pieces; those of this kind handed out before are void.
  explicit Scratch(int64_t bytes, Kind kind = chunk) : at_(memory(bytes, kind)) {}

  // Bytes that take<T>(count) will use.
  template <class T>
  static constexpr int64_t bytes(int64_t count) {
    return (count * static_cast<int64_t>(sizeof(T)) + 127) / 128 * 128;
  }

  // The next piece: uninitialised, on a cache line of its own.
  template <class T>
  T* take(int64_t count) {
    T* piece = reinterpret_cast<T*>(at_);
    at_ += bytes<T>(count);
    return piece;
  }

 private:
  static std::byte* memory(int64_t bytes, Kind kind);

  std::byte* at_;
};

}  // namespace fovea::kernel
