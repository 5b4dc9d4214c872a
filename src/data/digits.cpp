#include "fovea/data/digits.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct Point {
  double x, y;
};

// Of a box from 0 to 1, y downwards.
const std::vector<Point>& strokes(int digit) {
  static const std::vector<Point> all[10] = {
      {{.5, .05},
       {.28, .15},
       {.18, .38},
       {.18, .62},
       {.28, .85},
       {.5, .95},
       {.72, .85},
       {.82, .62},
       {.82, .38},
       {.72, .15},
       {.5, .05}},
      {{.34, .22}, {.55, .05}, {.55, .95}},
      {{.2, .28},
       {.25, .13},
       {.42, .05},
       {.62, .07},
       {.78, .2},
       {.76, .38},
       {.6, .58},
       {.38, .78},
       {.2, .95},
       {.8, .95}},
      {{.22, .14},
       {.4, .05},
       {.62, .07},
       {.76, .2},
       {.72, .37},
       {.5, .46},
       {.74, .56},
       {.8, .74},
       {.66, .91},
       {.42, .95},
       {.2, .86}},
      {{.62, .95}, {.62, .05}, {.18, .66}, {.84, .66}},
      {{.76, .05},
       {.3, .05},
       {.26, .42},
       {.48, .36},
       {.7, .44},
       {.8, .63},
       {.72, .84},
       {.5, .95},
       {.22, .88}},
      {{.7, .07},
       {.46, .12},
       {.28, .34},
       {.22, .62},
       {.3, .86},
       {.5, .95},
       {.72, .87},
       {.78, .68},
       {.68, .5},
       {.46, .46},
       {.26, .6}},
      {{.2, .06}, {.8, .06}, {.58, .42}, {.42, .95}},
      {{.5, .46},
       {.3, .36},
       {.27, .18},
       {.42, .06},
       {.6, .06},
       {.74, .18},
       {.7, .36},
       {.5, .46},
       {.28, .6},
       {.22, .78},
       {.36, .93},
       {.64, .93},
       {.78, .78},
       {.72, .6},
       {.5, .46}},
      {{.74, .36},
       {.56, .52},
       {.34, .5},
       {.22, .32},
       {.3, .13},
       {.5, .05},
       {.7, .12},
       {.78, .34},
       {.74, .64},
       {.62, .85},
       {.36, .94}},
  };
  return all[digit];
}

double distance(const Point& p, const Point& a, const Point& b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t =
      length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// Between -1 and 1.
double swing(Random& random) { return 2.0 * random.uniform() - 1; }

constexpr int64_t digit_side = 28, piece_side = 8;

// Piece of `from` around one of its bright pixels, laid on the canvas.
void lay(Picture& canvas, const Picture& from, int64_t top, int64_t left, int64_t from_top,
         int64_t from_left, int64_t height, int64_t width) {
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < canvas.channels; ++c) {
        uint8_t& to = canvas.at(top + y, left + x, c);
        to = std::max(to, from.at(from_top + y, from_left + x, from.channels == 1 ? 0 : c));
      }
    }
  }
}

}  // namespace

Picture draw_digit(int digit, Random random) {
  check(digit >= 0 && digit <= 9, "draw_digit: there is no digit ", digit);
  const double turn = 0.22 * swing(random), slant = 0.25 * swing(random);
  const double high = 0.95 + 0.12 * swing(random), wide = 0.85 + 0.2 * swing(random);
  const double thick = 1.25 + 0.45 * swing(random);
  const Point middle{14 + swing(random), 14 + swing(random)};
  std::vector<Point> line;
  for (const Point& p : strokes(digit)) {
    const double x = (p.x - 0.5 + 0.035 * swing(random)) * wide,
                 y = (p.y - 0.5 + 0.035 * swing(random)) * high;
    const double leant = x - slant * y;
    line.push_back({middle.x + 20 * (leant * std::cos(turn) - y * std::sin(turn)),
                    middle.y + 20 * (leant * std::sin(turn) + y * std::cos(turn))});
  }
  Picture picture{digit_side, digit_side, 1, {}};
  picture.pixels.resize(digit_side * digit_side);
  for (int64_t y = 0; y < digit_side; ++y) {
    for (int64_t x = 0; x < digit_side; ++x) {
      const Point at{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
      double nearest = 1e9;
      for (size_t i = 0; i + 1 < line.size(); ++i) {
        nearest = std::min(nearest, distance(at, line[i], line[i + 1]));
      }
      const double light = std::clamp(thick - nearest + 0.5, 0.0, 1.0);
      picture.at(y, x, 0) = static_cast<uint8_t>(std::lround(255 * light));
    }
  }
  return picture;
}

int digit_of(int64_t number) {
  return static_cast<int>(Random(0).fork("digits").fork(static_cast<uint64_t>(number)).below(10));
}

Picture builtin_digit(int64_t number) {
  return draw_digit(digit_of(number),
                    Random(0).fork("strokes").fork(static_cast<uint64_t>(number)));
}

Picture on_canvas(const Picture& picture, const CanvasOptions& options, Random random) {
  const int64_t side = options.side;
  if (picture.height == side && picture.width == side) return picture;
  check(picture.height <= side && picture.width <= side, "canvas: a picture of ", picture.height,
        " x ", picture.width, " pixels does not fit on ", side, " x ", side,
        "; give a larger canvas, or a smaller size");
  Picture canvas{side, side, picture.channels, {}};
  canvas.pixels.resize(static_cast<size_t>(side * side * picture.channels));
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(n)));
  };
  const int64_t top = below(side - picture.height + 1), left = below(side - picture.width + 1);
  lay(canvas, picture, top, left, 0, 0, picture.height, picture.width);
  const int64_t piece = std::min(piece_side, side);
  for (int64_t i = 0; i < options.clutter; ++i) {
    const auto digit = static_cast<int>(below(10));
    const Picture from = draw_digit(digit, random.fork(static_cast<uint64_t>(i)));
    // From the middle, where there is something to see.
    const int64_t from_top = 4 + below(digit_side - 8 - piece + 1),
                  from_left = 4 + below(digit_side - 8 - piece + 1);
    const int64_t to_top = below(side - piece + 1), to_left = below(side - piece + 1);
    lay(canvas, from, to_top, to_left, from_top, from_left, piece, piece);
  }
  return canvas;
}

}  // namespace fovea
