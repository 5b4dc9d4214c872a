// Working memory of one thread of a fused kernel: kept between calls, so a steady step allocates
// nothing, and grown to the largest request so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace fovea::kernel {

class Scratch {
 public:
  // What a thread uses while it works on a chunk, and what a caller keeps while its chunks run: the
  // calling thread has both at once. A chunk of attention may multiply matrices inside, so these
  // have pieces of their own.
  enum Kind { chunk, call, product_chunk, product_call };

  // Starts a new set of pieces; those of this kind handed out before are void.
  explicit Scratch(int64_t bytes, Kind kind = chunk) {
    thread_local Block blocks[4];
    Block& block = blocks[kind];
    if (block.bytes < bytes) block.grow(bytes);
    at_ = block.data;
  }

  // Bytes that take<T>(count) will use.
  template <class T>
  static constexpr int64_t bytes(int64_t count) {
    return (count * static_cast<int64_t>(sizeof(T)) + 127) / 128 * 128;
  }

  template <class T>
  T* take(int64_t count) {
    T* piece = reinterpret_cast<T*>(at_);
    at_ += bytes<T>(count);
    return piece;
  }

 private:
  struct Block {
    std::byte* data = nullptr;
    int64_t bytes = 0;
    void grow(int64_t to) {
      release();
      data = static_cast<std::byte*>(::operator new (to, std::align_val_t{128}));
      bytes = to;
    }
    void release() {
      if (data) ::operator delete (data, std::align_val_t{128});
      data = nullptr;
      bytes = 0;
    }
    ~Block() { release(); }
  };

  std::byte* at_;
};

}  // namespace fovea::kernel
