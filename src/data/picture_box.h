// A rectangle of a picture.
#pragma once

namespace fovea {

// In pixels from the upper left corner.
struct PictureBox {
  double x = 0, y = 0, width = 0, height = 0;  // of the corner, and its size
  bool operator==(const PictureBox&) const = default;
};

}  // namespace fovea
