// A picture in memory: rows from the top, pixels from the left, channels side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fovea {

struct Picture {
  int64_t height = 0, width = 0;  // pixels
  int64_t channels = 0;           // 1: grey; 3: red, green, blue
  std::vector<uint8_t> pixels{};  // height * width * channels, 0 to 255

  // Channel c of the pixel in row y and column x.
  uint8_t& at(int64_t y, int64_t x, int64_t c) {
    return pixels[static_cast<size_t>((y * width + x) * channels + c)];
  }
  uint8_t at(int64_t y, int64_t x, int64_t c) const {
    return pixels[static_cast<size_t>((y * width + x) * channels + c)];
  }
};

}  // namespace fovea
