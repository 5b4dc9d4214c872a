// A file's bytes as memory, read from disk only where they are touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace fovea {

// One open file.
class MappedFile {
 public:
  MappedFile() = default;  // no file, no bytes
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MappedFile();

  // Valid while this object, or the one it was moved to, lives; also if the file is deleted or
  // replaced by another. Only a program that shortens the file in place takes its bytes away.
  std::span<const std::byte> bytes() const { return bytes_; }
  // These bytes will not be read again soon: the memory that holds them may be used otherwise.
  void forget(std::span<const std::byte> part) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace fovea
