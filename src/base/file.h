// Files that are written whole or not at all, and folders for them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace fovea {

// An open file's number, closed with this object.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  // The number, -1 for none, and whether there is one.
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Makes `path` a file of these pieces, one after the other. Whoever opens `path` meanwhile, or
// after a kill or a power cut at any moment, finds the old file or the new one, each whole. Writes
// to `path`.tmp first, which is this function's own: what a killed process left there is
// overwritten. On any failure the old file stays as it was, nothing is left beside it, and an Error
// says why.
void write_file_atomically(const std::string& path,
                           std::span<const std::span<const std::byte>> pieces);
void write_file_atomically(const std::string& path, std::span<const std::byte> bytes);

// Makes the folder, and those that it is in, where they are not there yet; an Error says why not.
void make_folder(const std::string& path);

}  // namespace fovea
