// Named arrays in a file, in the format of https://github.com/huggingface/safetensors: eight bytes
// with the header's length, a JSON header, the arrays' bytes. Nothing in a file is trusted: opening
// one checks all of it but the numbers, and takes no more memory than a small multiple of its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/tensor/mapped_file.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

// An array of a file.
struct NamedTensor {
  std::string name;  // unique in its file
  Tensor tensor;     // its value
};

// A file that is open for reading.
class Safetensors {
 public:
  // One array, as the header describes it.
  struct Entry {
    std::string name;            // unique in its file
    std::string dtype;           // the file's word for it: "F32", "BF16", ...
    std::vector<int64_t> shape;  // may have more axes than a Tensor can
    int64_t begin, end;          // its bytes, counted from the first byte after the header
    bool operator==(const Entry&) const = default;
  };
  // Texts by name, in the file's order: Python writes them in the order of its hash table, and a
  // file that is read and saved again should keep its bytes.
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  // Maps the file; an Error says what is wrong with it.
  static Safetensors open(const std::string& path);
  // Borrows the bytes; `where` stands for them in errors.
  static Safetensors parse(std::span<const std::byte> bytes, const std::string& where);

  // In the order of their bytes.
  std::span<const Entry> entries() const { return entries_; }
  // All texts, in the file's order.
  const Metadata& metadata() const { return metadata_; }
  // Null when the file has no such text.
  const std::string* metadata(std::string_view name) const;

  // Whether the file has an array of this name.
  bool has(std::string_view name) const { return find(name) != nullptr; }
  // F32, F64 and I32 as they are; F16 and BF16 as float32; BOOL and the other integers as int32 if
  // every value fits. An Error for all else.
  Tensor load(std::string_view name) const;
  Tensor load(const Entry& entry) const;
  // The bytes of an array will not be read again: what memory holds of them may go.
  void forget(std::string_view name) const;

 private:
  Safetensors() = default;
  const Entry* find(std::string_view name) const;

  std::string where_;
  MappedFile file_;                  // holds nothing when the bytes are borrowed
  std::span<const std::byte> data_;  // what follows the header
  std::vector<Entry> entries_;
  std::vector<uint32_t> by_name_;  // places in entries_, in the order of their names
  Metadata metadata_;
};

// Byte for byte what Python's safetensors library writes for the same arrays. The old file, if any,
// stays untouched until the new one is whole.
void save_safetensors(const std::string& path, std::span<const NamedTensor> tensors,
                      const Safetensors::Metadata& metadata = {});

}  // namespace fovea
