// The bytes of a file, unpacked on the way when they are gzip's or xz's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace fovea {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the beginning of `into`, which is not empty, and says how much of it; 0 at the end.
  virtual size_t read(std::span<char> into) = 0;
};

// The content, not the name, tells how a file is packed. Errors, here and in read(), name the path.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

}  // namespace fovea
