// Digits drawn by our own code, and pictures laid somewhere on a canvas, with or without clutter.
#pragma once

#include "fovea/base/random.h"
#include "fovea/data/picture.h"

namespace fovea {

// 0 to 9 as strokes of light on black, 28 x 28 and grey as MNIST's, bent, slanted, turned and made
// thick or thin by numbers of the stream.
Picture draw_digit(int digit, Random random);

// Number `number` of builtin:digits, the same on every machine; its digit is digit_of(number).
Picture builtin_digit(int64_t number);
int digit_of(int64_t number);

// A black square that a picture is laid on, and what else lies there.
struct CanvasOptions {
  int64_t side = 60;    // pixels
  int64_t clutter = 0;  // pieces of digits
};
// The picture at a place of the canvas that the stream decides, and pieces of 8 x 8 pixels of drawn
// digits anywhere; where things overlap the brighter is seen. A picture that is larger than the
// canvas is an Error; one of its very size is taken as it is.
Picture on_canvas(const Picture& picture, const CanvasOptions& options, Random random);

}  // namespace fovea
