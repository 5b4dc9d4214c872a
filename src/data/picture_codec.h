// PNG, JPEG and BMP by stb_image, and what it does not look at: whether a JPEG is whole, and
// whether a file can hold what its header promises.
#pragma once

#include <span>
#include <string>

#include "fovea/data/picture_file.h"

namespace fovea {

// Of a picture that begins with these bytes; false where they do not tell. The size is not judged.
bool coded_size(std::span<const unsigned char> head, PictureSize& size);
// The same of a whole file; what is no picture is an Error that says what would be one.
PictureSize checked_coded_size(std::span<const unsigned char> bytes, const std::string& name);
// The picture of that size.
Picture decode_coded(std::span<const unsigned char> bytes, const PictureSize& size,
                     const std::string& name);

}  // namespace fovea
