// Room for bytes that are about to be read: not set to zero first, as a vector would be.
#pragma once

#include <cstring>
#include <memory>
#include <span>

namespace fovea {

class Buffer {
 public:
  explicit Buffer(size_t size) : bytes_(new char[size]), size_(size) {}

  char* data() { return bytes_.get(); }              // the first byte
  const char* data() const { return bytes_.get(); }  // the same, to read
  size_t size() const { return size_; }              // bytes there is room for
  char& operator[](size_t i) { return bytes_[i]; }
  std::span<char> span() { return {bytes_.get(), size_}; }  // all of it

  // Keeps the first `kept` bytes.
  void grow(size_t size, size_t kept) {
    Buffer larger(size);
    std::memcpy(larger.data(), data(), kept);
    *this = std::move(larger);
  }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

}  // namespace fovea
