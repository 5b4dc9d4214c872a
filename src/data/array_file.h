// Arrays of numbers as others leave them: IDX (MNIST's) and NPY (NumPy's), plain or packed with
// gzip, xz or zstd.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct ArrayFile {
  // What an element is: a whole number with or without a sign, or a float.
  enum class Kind { whole, unsigned_whole, real };

  std::vector<int64_t> shape;         // outermost first
  Kind kind = Kind::whole;            // of every element
  int bytes = 1;                      // of an element: 1, 2, 4 or 8
  bool big_endian = false;            // as IDX has it
  std::vector<unsigned char> data{};  // row by row

  // How many elements there are, and the number that one of them is.
  int64_t elements() const;
  double at(int64_t i) const;
};

// Whether a file that begins so is one of them.
bool begins_as_array(std::string_view head);

// The sizes of its axes, from its header alone.
std::vector<int64_t> array_shape(const std::string& path);

// The whole file; with `most` at most so many entries of the first axis, for a look at it. An
// Error, which names the path, where the header is none that can be read, or promises more than
// there is: memory is taken as bytes come, never as a header says.
ArrayFile read_array(const std::string& path, int64_t most = -1);

}  // namespace fovea
