// Pictures with what was looked at laid over them: what lies under a map whose keys are regions of
// a picture, frames of a film, or places that were glimpsed at. Every kind of drawing (terminal,
// SVG, PNG, HTML) takes its tiles from here.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/data/picture.h"
#include "fovea/data/picture_box.h"

namespace fovea {

struct AttentionMap;
struct TerminalOptions;

// The pictures that lie under a map.
struct PictureGround {
  std::vector<Picture> pictures;  // one, or the frames of a film in order
  // Regions of each picture: the map's keys are [pictures, rows, columns]. 0: the map has no keys,
  // only boxes.
  int64_t rows = 0, columns = 0;
  // What is framed on the first picture for each query: what it glimpsed at, or where the thing is
  // that its word names. Empty: nothing.
  std::vector<std::vector<PictureBox>> boxes{};
  // The first boxes of the queries are joined by a path, middle to middle, on a picture of its own.
  bool path = false;
};

// Three channels, its longer side `side` pixels: each pixel the nearest, or the mean of those that
// it covers.
Picture scaled_picture(const Picture& picture, int64_t side);

// What is laid over a picture.
struct PictureOverlay {
  int64_t rows = 0, columns = 0;             // regions
  std::span<const float> shades{};           // [rows, columns], 0 to 1: what is not looked at is
                                             // veiled; empty: nothing is
  std::span<const PictureBox> boxes{};       // framed
  std::span<const PictureBox> path_boxes{};  // joined and framed
};
// The scaled picture with that over it.
Picture overlaid(const Picture& picture, const PictureOverlay& overlay, int64_t side);

// The pictures as one query saw them, side by side.
struct PictureStrip {
  std::string label;           // the query; of the first strip, which shows them as they are, ""
  float largest = 0;           // the weight of what is not veiled at all; 0: there are none
  std::vector<Picture> tiles;  // one for each picture
};
// Of a map with a ground: the pictures as they are (with the path, where there is one), then a
// strip for each query. Fails where keys and regions do not agree.
std::vector<PictureStrip> picture_strips(const AttentionMap& map, int64_t side);

// The map in a terminal: half blocks in colour, shades of regions without. As wide as asked at
// most.
std::string draw_picture_terminal(const AttentionMap& map, const TerminalOptions& options);

// The bytes of a PNG of one picture.
std::string encode_png(const Picture& picture);

}  // namespace fovea
