// Coloured shapes and digits, painted into pictures: what the built-in pictures are made of.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "fovea/base/random.h"
#include "fovea/data/picture.h"
#include "fovea/data/picture_box.h"

namespace fovea {

// What can be painted, by name.
inline constexpr std::array painted_colours{"red", "green", "blue", "yellow", "purple", "white"};
inline constexpr std::array painted_shapes{"circle", "square", "triangle", "cross"};
inline constexpr std::array painted_digits{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

// A thing with its place.
struct PaintedThing {
  std::string colour, shape;  // one of the names above; a digit is a shape too
  PictureBox box{};           // whole pixels
  // The middle of the box.
  double middle_x() const { return box.x + box.width / 2; }
  double middle_y() const { return box.y + box.height / 2; }
};

// A dark ground with a little noise.
Picture painted_ground(int64_t height, int64_t width, Random& random);
// Fills the shape into its box, edges smoothed; the colour varies a little.
void paint_thing(Picture& picture, const PaintedThing& thing, Random& random);
// A box of the shape's own form: squares for shapes, upright for digits, about `size` pixels high.
PictureBox box_for(const std::string& shape, int64_t size);

}  // namespace fovea
