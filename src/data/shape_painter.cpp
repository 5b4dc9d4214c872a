#include "fovea/data/shape_painter.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

// Five dots wide, seven high; the lowest bit is the rightmost dot.
constexpr std::array<std::array<uint8_t, 7>, 10> digit_dots{{
    {14, 17, 19, 21, 25, 17, 14},
    {4, 12, 4, 4, 4, 4, 14},
    {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},
    {2, 6, 10, 18, 31, 2, 2},
    {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},
    {31, 1, 2, 4, 8, 8, 8},
    {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},
}};

constexpr std::array<std::array<int, 3>, 6> rgb{{{220, 50, 47},
                                                 {60, 180, 75},
                                                 {60, 100, 230},
                                                 {235, 215, 60},
                                                 {170, 70, 200},
                                                 {232, 232, 232}}};

// Whether the point (u, v) of the unit square, v downwards, belongs to the shape.
bool inside(const std::string& shape, double u, double v) {
  if (shape == "circle") return (u - 0.5) * (u - 0.5) + (v - 0.5) * (v - 0.5) <= 0.25;
  if (shape == "square") return true;
  if (shape == "triangle") return std::abs(u - 0.5) <= v / 2;
  if (shape == "cross") return std::abs(u - 0.5) <= 0.17 || std::abs(v - 0.5) <= 0.17;
  const auto& dots = digit_dots[static_cast<size_t>(shape[0] - '0')];
  const auto row = std::min<size_t>(6, static_cast<size_t>(v * 7));
  const int column = std::min(4, static_cast<int>(u * 5));
  return (dots[row] >> (4 - column) & 1) != 0;
}

uint8_t byte_of(double x) { return static_cast<uint8_t>(std::lround(std::clamp(x, 0.0, 255.0))); }

}  // namespace

Picture painted_ground(int64_t height, int64_t width, Random& random) {
  Picture picture{height, width, 3, {}};
  picture.pixels.resize(static_cast<size_t>(height * width * 3));
  const auto base = static_cast<uint32_t>(8 + random.below(30));
  uint32_t noise = 0;  // three bits a number
  for (size_t i = 0; i < picture.pixels.size(); ++i, noise >>= 3) {
    if (i % 10 == 0) noise = random.bits();
    picture.pixels[i] = static_cast<uint8_t>(base + (noise & 7));
  }
  return picture;
}

PictureBox box_for(const std::string& shape, int64_t size) {
  const bool digit = shape[0] >= '0' && shape[0] <= '9';
  const auto height = static_cast<double>(size);
  return {0, 0, digit ? std::round(height * 5 / 7) : height, height};
}

void paint_thing(Picture& picture, const PaintedThing& thing, Random& random) {
  size_t colour = 0;
  while (colour < painted_colours.size() && painted_colours[colour] != thing.colour) ++colour;
  check(colour < painted_colours.size(), "paint: no colour is called '", thing.colour, "'");
  std::array<double, 3> ink{};
  for (size_t c = 0; c < 3; ++c) {
    ink[c] = rgb[colour][c] + static_cast<double>(random.below(31)) - 15;
  }
  const auto top = static_cast<int64_t>(thing.box.y), left = static_cast<int64_t>(thing.box.x),
             tall = static_cast<int64_t>(thing.box.height),
             wide = static_cast<int64_t>(thing.box.width);
  constexpr int fine = 4;  // points a pixel, in each direction
  for (int64_t y = 0; y < tall; ++y) {
    for (int64_t x = 0; x < wide; ++x) {
      int hits = 0;
      for (int i = 0; i < fine * fine; ++i) {
        const double u =
            (static_cast<double>(x) + (i % fine + 0.5) / fine) / static_cast<double>(wide);
        const double v =
            (static_cast<double>(y) + (i / fine + 0.5) / fine) / static_cast<double>(tall);
        hits += inside(thing.shape, u, v);
      }
      const double part = hits / static_cast<double>(fine * fine);
      if (hits == 0 || top + y < 0 || left + x < 0 || top + y >= picture.height ||
          left + x >= picture.width) {
        continue;
      }
      for (int64_t c = 0; c < 3; ++c) {
        uint8_t& pixel = picture.at(top + y, left + x, c);
        pixel = byte_of(pixel * (1 - part) + ink[static_cast<size_t>(c)] * part);
      }
    }
  }
}

}  // namespace fovea
