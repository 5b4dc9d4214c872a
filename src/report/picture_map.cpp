#include "fovea/report/picture_map.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/report/heat_colour.h"
#include "fovea/report/heat_map.h"

namespace fovea {
namespace {

// What is not looked at lies behind a veil of middle grey, which tells it on dark pictures and on
// light ones; frames and paths are in colours that pictures seldom have.
constexpr Colour veil{0x86, 0x8c, 0x94}, frame{0xff, 0x2d, 0x9b}, first_frame{0x12, 0xe8, 0xd0};
constexpr double most_veil = 0.8;

uint8_t mixed(uint8_t a, uint8_t b, double part) {
  return static_cast<uint8_t>(std::lround(a + (b - a) * part));
}

void put(Picture& to, int64_t y, int64_t x, Colour c) {
  if (y < 0 || x < 0 || y >= to.height || x >= to.width) return;
  to.at(y, x, 0) = c.r, to.at(y, x, 1) = c.g, to.at(y, x, 2) = c.b;
}

// A point as thick as lines are.
void dot(Picture& to, double y, double x, int64_t thick, Colour c) {
  const auto top = static_cast<int64_t>(std::floor(y)) - (thick - 1) / 2,
             left = static_cast<int64_t>(std::floor(x)) - (thick - 1) / 2;
  for (int64_t i = 0; i < thick; ++i) {
    for (int64_t j = 0; j < thick; ++j) put(to, top + i, left + j, c);
  }
}

void line(Picture& to, double y0, double x0, double y1, double x1, int64_t thick, Colour c) {
  const double steps = std::max({std::abs(y1 - y0), std::abs(x1 - x0), 1.0});
  for (double i = 0; i <= steps; ++i) {
    dot(to, y0 + (y1 - y0) * i / steps, x0 + (x1 - x0) * i / steps, thick, c);
  }
}

// How a picture's own pixels become those of a tile.
struct Scale {
  double y, x;
  int64_t thick;
};

void draw_box(Picture& to, const PictureBox& box, const Scale& scale, Colour c) {
  // Inside of its edges, so that a box that is as large as the picture is seen.
  const double half = static_cast<double>(scale.thick) / 2;
  const double top = box.y * scale.y + half, left = box.x * scale.x + half,
               bottom = (box.y + box.height) * scale.y - half,
               right = (box.x + box.width) * scale.x - half;
  line(to, top, left, top, right, scale.thick, c);
  line(to, bottom, left, bottom, right, scale.thick, c);
  line(to, top, left, bottom, left, scale.thick, c);
  line(to, top, right, bottom, right, scale.thick, c);
}

void draw_path(Picture& to, std::span<const PictureBox> boxes, const Scale& scale) {
  const auto middle = [&](const PictureBox& box) {
    return std::pair((box.y + box.height / 2) * scale.y, (box.x + box.width / 2) * scale.x);
  };
  for (size_t i = 1; i < boxes.size(); ++i) {
    const auto [y0, x0] = middle(boxes[i - 1]);
    const auto [y1, x1] = middle(boxes[i]);
    line(to, y0, x0, y1, x1, scale.thick, frame);
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    const auto [y, x] = middle(boxes[i]);
    dot(to, y, x, 3 * scale.thick, i == 0 ? first_frame : frame);
  }
}

}  // namespace

Picture scaled_picture(const Picture& picture, int64_t side) {
  const int64_t longer = std::max({picture.height, picture.width, int64_t{1}});
  const auto size = [&](int64_t of) {
    return std::max<int64_t>(1, (of * side + longer / 2) / longer);
  };
  Picture to{size(picture.height), size(picture.width), 3, {}};
  to.pixels.resize(static_cast<size_t>(to.height * to.width * 3));
  if (picture.pixels.empty()) return to;
  for (int64_t y = 0; y < to.height; ++y) {
    const int64_t y0 = y * picture.height / to.height,
                  y1 = std::max(y0 + 1, (y + 1) * picture.height / to.height);
    for (int64_t x = 0; x < to.width; ++x) {
      const int64_t x0 = x * picture.width / to.width,
                    x1 = std::max(x0 + 1, (x + 1) * picture.width / to.width);
      for (int64_t c = 0; c < 3; ++c) {
        int64_t sum = 0;
        for (int64_t i = y0; i < y1; ++i) {
          for (int64_t j = x0; j < x1; ++j) sum += picture.at(i, j, picture.channels == 1 ? 0 : c);
        }
        const int64_t n = (y1 - y0) * (x1 - x0);
        to.at(y, x, c) = static_cast<uint8_t>((sum + n / 2) / n);
      }
    }
  }
  return to;
}

Picture overlaid(const Picture& picture, const PictureOverlay& overlay, int64_t side) {
  Picture to = scaled_picture(picture, side);
  if (!overlay.shades.empty()) {
    for (int64_t y = 0; y < to.height; ++y) {
      const int64_t row = y * overlay.rows / to.height;
      for (int64_t x = 0; x < to.width; ++x) {
        const int64_t column = x * overlay.columns / to.width;
        const float shade = overlay.shades[static_cast<size_t>(row * overlay.columns + column)];
        const double part = most_veil * (1 - std::clamp(double{shade}, 0.0, 1.0));
        to.at(y, x, 0) = mixed(to.at(y, x, 0), veil.r, part);
        to.at(y, x, 1) = mixed(to.at(y, x, 1), veil.g, part);
        to.at(y, x, 2) = mixed(to.at(y, x, 2), veil.b, part);
      }
    }
  }
  const Scale scale{
      static_cast<double>(to.height) / static_cast<double>(std::max<int64_t>(1, picture.height)),
      static_cast<double>(to.width) / static_cast<double>(std::max<int64_t>(1, picture.width)),
      std::max<int64_t>(1, side / 100)};
  for (const PictureBox& box : overlay.boxes) draw_box(to, box, scale, frame);
  draw_path(to, overlay.path_boxes, scale);
  return to;
}

std::vector<PictureStrip> picture_strips(const AttentionMap& map, int64_t side) {
  check(map.ground != nullptr && !map.ground->pictures.empty(), "picture map \"", map.name,
        "\": needs a picture to lie on");
  const PictureGround& ground = *map.ground;
  const auto regions = static_cast<size_t>(ground.rows * ground.columns);
  check(map.keys.size() == regions * ground.pictures.size(), "picture map \"", map.name,
        "\": ", ground.pictures.size(), " pictures of ", ground.rows, " x ", ground.columns,
        " regions need ", regions * ground.pictures.size(), " keys, got ", map.keys.size());
  check(map.weights.size() == map.queries.size() * map.keys.size(), "picture map \"", map.name,
        "\": needs ", map.queries.size() * map.keys.size(), " weights, got ", map.weights.size());
  std::vector<PictureStrip> strips(1);
  std::vector<PictureBox> path;
  if (ground.path) {
    for (const auto& boxes : ground.boxes) {
      if (!boxes.empty()) path.push_back(boxes[0]);
    }
  }
  for (size_t i = 0; i < ground.pictures.size(); ++i) {
    PictureOverlay overlay;
    if (i == 0) overlay.path_boxes = path;
    strips[0].tiles.push_back(overlaid(ground.pictures[i], overlay, side));
  }
  for (size_t q = 0; q < map.queries.size(); ++q) {
    PictureStrip strip{map.queries[q], 0, {}};
    std::vector<float> shades(
        map.weights.begin() + static_cast<ptrdiff_t>(q * map.keys.size()),
        map.weights.begin() + static_cast<ptrdiff_t>((q + 1) * map.keys.size()));
    for (float& shade : shades) {
      if (!std::isfinite(shade)) shade = 0;
      strip.largest = std::max(strip.largest, shade);
    }
    if (strip.largest > 0) {
      for (float& shade : shades) shade /= strip.largest;
    }
    for (size_t i = 0; i < ground.pictures.size(); ++i) {
      PictureOverlay overlay{ground.rows,
                             ground.columns,
                             std::span<const float>(shades).subspan(i * regions, regions),
                             {},
                             {}};
      if (i == 0 && q < ground.boxes.size()) overlay.boxes = ground.boxes[q];
      strip.tiles.push_back(overlaid(ground.pictures[i], overlay, side));
    }
    strips.push_back(std::move(strip));
  }
  return strips;
}

}  // namespace fovea
