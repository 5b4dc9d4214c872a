// The bytes of a file, unpacked on the way when they are gzip's, xz's or zstd's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace fovea {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the beginning of `into`, which is not empty, and says how much of it; 0 at the end.
  virtual size_t read(std::span<char> into) = 0;
  // gzip, xz or zstd; empty for a file as it lies there.
  virtual std::string_view packing() const { return {}; }
};

// The content, not the name, tells how a file is packed; "-" is stdin. Errors, here and in read(),
// name the path.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

}  // namespace fovea
