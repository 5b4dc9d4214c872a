// Pictures of where a model looked: in the terminal, as SVG, as PNG and as one interactive HTML
// file.
#pragma once

#include <string>
#include <vector>

namespace fovea {

// What each query took from each key. One query (a classifier's pooling) is drawn as its words,
// more as a matrix.
struct AttentionMap {
  std::string name;
  std::vector<std::string> queries, keys;
  std::vector<float> weights;  // row-major [queries, keys]
};

struct Drawing {
  std::string title;
  std::vector<AttentionMap> maps;
};

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

// The bytes of a PNG of the same layout. Its built-in raster font has printable ASCII only: any
// other character is written as a small box.
std::string draw_png(const Drawing& drawing);

// One offline page: hover a query to light its keys, choose a map, by layer and head where names
// tell them ("decoder/1/cross head 3"), light or dark.
std::string draw_html(const Drawing& drawing);

}  // namespace fovea
