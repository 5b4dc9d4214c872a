// Pictures of where a model looked: in the terminal, as SVG, as PNG and as one interactive HTML
// file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fovea/base/text_place.h"
#include "fovea/report/picture_map.h"

namespace fovea {

// Of a map whose weights are those of blocks: what is known of every query.
struct AttentionSummary {
  int64_t keys = 0;                // that each may look at
  std::vector<float> entropy;      // of each query's weights, in nats
  int64_t top = 0;                 // heaviest keys a query
  std::vector<int32_t> top_keys;   // [queries, top], -1 where there are fewer
  std::vector<float> top_weights;  // [queries, top]
};

// Keys that belong together, as the words of a sentence: from `first` on.
struct KeyGroup {
  size_t first = 0;  // the first of them
  float weight = 0;  // what they count for together
};

// What each query took from each key. One query (a classifier's pooling) is drawn as its words,
// more as a matrix.
struct AttentionMap {
  std::string name;                           // which attention it is: "decoder/1/cross head 3"
  std::vector<std::string> queries, keys;     // the words of each
  std::vector<float> weights;                 // row-major [queries, keys]
  std::optional<AttentionSummary> summary{};  // there: the words are the first of blocks
  std::vector<TextPlace> query_places{};      // in the input; empty where they are no part of it
  std::vector<TextPlace> key_places{};        // the same of the keys
  // Of one query: each group of its keys begins a line, behind a block in the colour of its weight.
  std::vector<KeyGroup> groups{};
  bool star = false;  // one node of a graph and its neighbours: drawn as that where there is room
  // The pictures whose regions the keys are; null where they are words. Drawn as the pictures, once
  // for each query, with what it looked at.
  std::shared_ptr<const PictureGround> ground{};
};

// What becomes one picture or page.
struct Drawing {
  std::string title;               // one line above all
  std::vector<AttentionMap> maps;  // one after the other
};

// What the terminal can show.
struct TerminalOptions {
  int width = 80;       // columns; less than 16 is drawn as 16
  bool colour = true;   // 24-bit ANSI backgrounds; else shades
  bool unicode = true;  // else only ASCII is written: shades are digits, other scripts '?'
};

// Every line ends in '\n' and is at most `width` columns wide, wide characters counted double. Keys
// that do not fit side by side go on in up to four panels; more keys than those hold, or more than
// 64 queries, are pooled (the largest weight of each block), and the text says so.
std::string draw_terminal(const AttentionMap& map, const TerminalOptions& options = {});

// A self-contained SVG document; many maps become a grid of small multiples, with a row for every
// layer where names tell heads ("encoder/0/self head 1").
std::string draw_svg(const Drawing& drawing);

// The bytes of a PNG of the same layout, in whatever fonts the machine has; a character that none
// of them has is a small box. Without fonts its built-in raster has printable ASCII only.
// `lacking`, if given, gets a sentence about that, or nothing.
std::string draw_png(const Drawing& drawing, std::string* lacking = nullptr);

// One offline page: hover a query to light its keys, choose a map, by layer and head where names
// tell them ("decoder/1/cross head 3"), light or dark.
std::string draw_html(const Drawing& drawing);

}  // namespace fovea
