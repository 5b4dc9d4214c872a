// Pictures out of files: PNG, JPEG and BMP hold one, IDX (MNIST's format) and NPY arrays hold many;
// all may be packed with gzip, xz or zstd. What a file is, its content tells.
//
//   Picture one = read_picture("cat.jpg");                    // or "t10k-images-idx3-ubyte.gz#17"
//   PictureFile many = read_pictures("train-images-idx3-ubyte.gz");
//   std::vector<std::string> labels = read_array_labels("train-labels-idx1-ubyte.gz");
//
// Palettes become colours, 16 bits a channel become 8, and what is transparent is laid on white.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/data/picture.h"

namespace fovea {

// A picture of more pixels, or a side of more, is refused by its header, before any memory is
// taken for it.
inline constexpr int64_t most_picture_pixels = int64_t{1} << 26;
inline constexpr int64_t most_picture_side = 1 << 15;

// Of a picture: what its header says, or what it is to be made to.
struct PictureSize {
  int64_t height = 0, width = 0;  // pixels
  int64_t channels = 0;           // 1: grey; 3: red, green, blue
  bool operator==(const PictureSize&) const = default;
};
// Of one that is in memory.
inline PictureSize size_of(const Picture& picture) {
  return {picture.height, picture.width, picture.channels};
}

// Whether a name ends as one of these, in capitals or not, packed (.gz, .xz, .zst) or not.
bool has_suffix(std::string_view name, std::initializer_list<std::string_view> suffixes);
// .png, .jpg, .jpeg, .bmp
bool is_picture_name(std::string_view name);

// Of the picture at `path`, from its header alone; of an array of pictures, of each of them. Errors
// of all functions here name the path, what is wrong and what would do.
PictureSize picture_size(const std::string& path);

// The picture of a file, or number i (from 0) of an array of them: "FILE#i".
Picture read_picture(const std::string& path);
// Of the bytes of a file of one picture; `name` is what an Error calls it.
Picture decode_picture(std::span<const unsigned char> bytes, const std::string& name);

// Whether a file is an array of pictures or labels: IDX or NPY.
bool is_array_file(const std::string& path);

// All pictures of an IDX or NPY file: [n, height, width] or [n, height, width, channels], of bytes;
// NPY also of [n, channels, height, width] and of floats, which are taken as 0 to 1 where none is
// greater, else as 0 to 255.
std::vector<Picture> read_pictures(const std::string& path);
// Labels of an IDX or NPY file of whole numbers, [n] or [n, 1], as text.
std::vector<std::string> read_array_labels(const std::string& path);

// The file and the number of "FILE#i".
struct PicturePlace {
  std::string file;    // all of the path where there is no number
  int64_t index = -1;  // -1: there is none
};
// Cuts at the last #, if a number follows and no file has that very name.
PicturePlace picture_place(const std::string& path);

}  // namespace fovea
