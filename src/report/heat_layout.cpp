// Layout of heat maps: one large, or a grid of small ones, with labels that thin out as cells
// shrink.
#include "fovea/report/heat_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/report/glyphs.h"
#include "fovea/report/star_layout.h"

namespace fovea {
namespace {

constexpr double margin = 24, title_size = 18, name_size = 13, small = 11, gap = 28;
constexpr double word_height = 24, group_width = 14, words_width = 640, most_width = 1600,
                 scale_width = 96;
constexpr Colour grey{0x5b, 0x66, 0x73}, black{0x1c, 0x23, 0x2b}, white{255, 255, 255};

std::string label_text(const std::string& text, int most) {
  return join(cut(glyphs(text), most, "…"));
}

double widest(const Canvas& canvas, const std::vector<std::string>& names, double size) {
  double result = 0;
  for (const std::string& name : names) result = std::max(result, canvas.text_width(name, size));
  return result;
}

// How many rows or columns share one label, so that labels never touch.
int64_t label_step(const Panel& panel) {
  return std::max<int64_t>(1, std::llround(std::ceil((panel.font + 1) / panel.cell)));
}

double head_height(const Panel& panel) { return panel.name.empty() ? 0 : name_size + 12; }

void place_words(Panel& panel, const AttentionMap& map, const Canvas& canvas) {
  double x = 0, y = head_height(panel);
  size_t group = 0;
  const std::vector<float> shades = group_shades(map);
  for (int64_t j = 0; j < panel.grid.cols(); ++j) {
    if (group < map.groups.size() && static_cast<size_t>(j) == map.groups[group].first) {
      if (x > 0) x = 0, y += word_height + 4;
      panel.words.push_back({x, y, group_width, "", shades[group++]});
      x += group_width + 9;
    }
    const std::string& text = panel.grid.keys[j];
    const double width = canvas.text_width(text, name_size) + 10;
    if (x > 0 && x + width > words_width) {
      x = 0;
      y += word_height + 4;
    }
    panel.words.push_back({x, y, width, text, panel.grid.at(0, j)});
    x += width + 3;
    panel.width = std::max(panel.width, x);
  }
  panel.height = y + word_height;
  // A text that reads from right to left begins on the right.
  std::string all;
  for (const std::string& key : panel.grid.keys) all += key;
  if (!reads_leftward(all)) return;
  for (Panel::Word& word : panel.words) word.x = panel.width - 3 - word.x - word.width;
}

void place_cells(Panel& panel, const Canvas& canvas, bool alone, double side) {
  const double count = std::max<double>(panel.grid.rows(), panel.grid.cols());
  panel.cell = std::floor(std::clamp(side / count, 3.0, alone ? 26.0 : 18.0));
  panel.font = std::clamp(std::floor(panel.cell * 0.72), 8.0, 13.0);
  const double keys = widest(canvas, panel.grid.keys, panel.font);
  panel.upright_keys = keys <= panel.cell - 2;
  panel.cells_x = widest(canvas, panel.grid.queries, panel.font) + 8;
  panel.cells_y = head_height(panel) + (panel.upright_keys ? panel.font : keys) + 8;
  panel.width = panel.cells_x + panel.cell * panel.grid.cols();
  panel.height = panel.cells_y + panel.cell * panel.grid.rows();
}

// Of one picture a tile for each query, wrapped; of a film a row for each query.
void place_tiles(Panel& panel, const AttentionMap& map, const Canvas& canvas) {
  const bool film = map.ground->pictures.size() > 1;
  const double side = film ? 84 : 144, space = film ? 4 : 14, under = film ? 8 : name_size + 14;
  const auto strips = picture_strips(map, static_cast<int64_t>(2 * side));
  const auto label_of = [](const PictureStrip& strip) {
    const std::string name = label_text(strip.label, 18);
    return strip.largest > 0 ? name + " " + weight_text(strip.largest) : name;
  };
  double left = 0;
  if (film) {
    for (const PictureStrip& strip : strips) {
      left = std::max(left, canvas.text_width(label_of(strip), small) + 10);
    }
  }
  double x = left, y = head_height(panel), tallest = 0;
  for (const PictureStrip& strip : strips) {
    double wide = 0, tall = 0;
    for (const Picture& tile : strip.tiles) {
      wide += static_cast<double>(tile.width) / 2 + space;
      tall = std::max(tall, static_cast<double>(tile.height) / 2);
    }
    if (film ? x > left : x > 0 && x + wide > 6 * (side + space)) {
      x = left;
      y += tallest + under;
      tallest = 0;
    }
    if (film) {
      panel.labels.push_back({left - 8, y + tall / 2, label_of(strip), small, black, Anchor::end});
    } else {
      panel.labels.push_back({x + (wide - space) / 2, y + tall + name_size / 2 + 3, label_of(strip),
                              small, black, Anchor::middle});
    }
    for (const Picture& tile : strip.tiles) {
      const double width = static_cast<double>(tile.width) / 2,
                   height = static_cast<double>(tile.height) / 2;
      panel.tiles.push_back({x, y, width, height, tile});
      x += width + space;
    }
    tallest = std::max(tallest, tall);
    panel.width = std::max(panel.width, x - space);
  }
  panel.height = y + tallest + under;
}

Panel place(const AttentionMap& map, const Canvas& canvas, bool alone, double side) {
  Panel panel;
  panel.name = label_text(map.name, 60);
  if (map.ground) {
    place_tiles(panel, map, canvas);
    panel.width = std::max(panel.width, canvas.text_width(panel.name, name_size));
    return panel;
  }
  const bool is_words = map.queries.size() == 1;
  panel.grid = heat_grid(map, 512, is_words ? std::max<int64_t>(map.keys.size(), 1) : 512);
  panel.note = panel.grid.note();
  for (std::string& name : panel.grid.queries) name = label_text(name, alone ? 24 : 14);
  for (std::string& name : panel.grid.keys)
    name = label_text(name, is_words ? 48 : alone ? 24 : 14);
  if (panel.grid.shade.empty()) {
    panel.note =
        fmt::format("Nothing to draw: {} queries, {} keys.", map.queries.size(), map.keys.size());
    panel.height = head_height(panel);
  } else if (is_star(map)) {
    place_star(panel, map, canvas, alone);
  } else if (is_words) {
    place_words(panel, map, canvas);
  } else {
    place_cells(panel, canvas, alone, side);
  }
  const double scale = panel.cells_x + scale_width + 24 + canvas.text_width("0.0000", small);
  panel.width = std::max({panel.width, scale, canvas.text_width(panel.name, name_size),
                          canvas.text_width(panel.note, small)});
  panel.height +=
      (panel.grid.shade.empty() ? 0 : 14 + small) + (panel.note.empty() ? 0 : small + 8);
  return panel;
}

void paint_cells(const Panel& panel, Canvas& canvas) {
  const HeatGrid& grid = panel.grid;
  const double x = panel.cells_x, y = panel.cells_y, cell = panel.cell;
  const double line = cell >= 8 ? 1 : 0;  // a hair of paper between cells, while there is room
  for (int64_t i = 0; i < grid.rows(); ++i)
    for (int64_t j = 0; j < grid.cols(); ++j)
      canvas.rectangle(x + j * cell, y + i * cell, cell - line, cell - line,
                       heat_colour(grid.at(i, j)));
  const int64_t step = label_step(panel);
  for (int64_t i = 0; i < grid.rows(); i += step)
    canvas.write({x - 6, y + (i + 0.5) * cell, grid.queries[i], panel.font, black, Anchor::end});
  for (int64_t j = 0; j < grid.cols(); j += panel.upright_keys ? 1 : step) {
    Label label{x + (j + 0.5) * cell, y - 5, grid.keys[j], panel.font};
    label.upward = !panel.upright_keys;
    label.anchor = panel.upright_keys ? Anchor::middle : Anchor::start;
    if (panel.upright_keys) label.y -= panel.font / 2;
    canvas.write(label);
  }
}

void paint_scale(const Panel& panel, double x, double y, Canvas& canvas) {
  canvas.write({x, y, "0", small, grey});
  const double left = x + canvas.text_width("0", small) + 6;
  constexpr int steps = 24;
  for (int i = 0; i < steps; ++i)
    canvas.rectangle(left + i * scale_width / steps, y - 4, scale_width / steps, 8,
                     heat_colour(i / (steps - 1.f)));
  canvas.write({left + scale_width + 6, y, weight_text(panel.grid.largest), small, grey});
}

// A canvas whose origin is a panel's corner.
class Shifted : public Canvas {
 public:
  Shifted(Canvas& canvas, double x, double y) : canvas_(canvas), x_(x), y_(y) {}
  double text_width(const std::string& text, double size) const override {
    return canvas_.text_width(text, size);
  }
  void rectangle(double x, double y, double width, double height, Colour colour) override {
    canvas_.rectangle(x_ + x, y_ + y, width, height, colour);
  }
  void line(double x0, double y0, double x1, double y1, double width, Colour colour) override {
    canvas_.line(x_ + x0, y_ + y0, x_ + x1, y_ + y1, width, colour);
  }
  void disc(double x, double y, double radius, Colour colour) override {
    canvas_.disc(x_ + x, y_ + y, radius, colour);
  }
  void write(const Label& label) override {
    Label moved = label;
    moved.x += x_;
    moved.y += y_;
    canvas_.write(moved);
  }
  void image(double x, double y, double width, double height, const Picture& picture) override {
    canvas_.image(x_ + x, y_ + y, width, height, picture);
  }

 private:
  Canvas& canvas_;
  double x_, y_;
};

void paint_panel(const Panel& panel, Canvas&& canvas) {
  if (!panel.name.empty()) {
    Label name{0, name_size / 2 + 2, panel.name, name_size};
    name.bold = true;
    canvas.write(name);
  }
  for (const Panel::Tile& tile : panel.tiles) {
    canvas.image(tile.x, tile.y, tile.width, tile.height, tile.picture);
  }
  for (const Label& label : panel.labels) canvas.write(label);
  double bottom = panel.height;
  if (!panel.note.empty()) {
    canvas.write({0, bottom - small / 2, panel.note, small, grey});
    bottom -= small + 8;
  }
  if (panel.grid.shade.empty()) return;
  for (const Panel::Word& word : panel.words) {
    canvas.rectangle(word.x, word.y, word.width, word_height, heat_colour(word.shade));
    canvas.write({word.x + word.width / 2, word.y + word_height / 2, word.text, name_size,
                  ink_on(word.shade), Anchor::middle});
  }
  if (panel.star) {
    paint_star(panel, canvas);
  } else if (panel.words.empty()) {
    paint_cells(panel, canvas);
  }
  paint_scale(panel, panel.cells_x, bottom - small / 2, canvas);
}

// "decoder/1/cross head 3" stands in the row of "decoder/1/cross".
std::string row_of(const AttentionMap& map) { return map.name.substr(0, map.name.rfind(" head ")); }

// The most maps that follow each other in one row; 1 where names tell of no heads.
size_t most_heads(const Drawing& drawing) {
  size_t most = 1, run = 1;
  for (size_t i = 1; i < drawing.maps.size(); ++i) {
    const AttentionMap &map = drawing.maps[i], &last = drawing.maps[i - 1];
    const bool goes_on = map.name != last.name && row_of(map) == row_of(last);
    run = goes_on ? run + 1 : 1;
    most = std::max(most, run);
  }
  return most;
}

}  // namespace

HeatPicture heat_layout(const Drawing& drawing, const Canvas& measure) {
  HeatPicture picture{label_text(drawing.title, 120), 0, 0, {}};
  const double top = margin + (picture.title.empty() ? 0 : title_size + 18);
  const bool alone = drawing.maps.size() == 1;
  // A row a layer, as wide as its heads need, with smaller maps the more there are.
  const size_t heads = most_heads(drawing);
  const double side = alone ? 720 : std::clamp(1400.0 / static_cast<double>(heads), 150.0, 280.0);
  double width = 0;
  for (const AttentionMap& map : drawing.maps) {
    picture.panels.push_back(place(map, measure, alone, side));
    width = std::max(width, picture.panels.back().width);
  }
  const size_t count = picture.panels.size();
  const auto square = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  const auto fit = static_cast<size_t>((most_width + gap) / (width + gap));
  const size_t per_row = heads > 1 ? heads : std::max<size_t>(1, std::min(square, fit));
  double y = top, row_height = 0;
  size_t column = 0;
  for (size_t i = 0; i < count; ++i, ++column) {
    Panel& panel = picture.panels[i];
    const bool next_layer =
        heads > 1 && i > 0 && row_of(drawing.maps[i]) != row_of(drawing.maps[i - 1]);
    if (next_layer || column == per_row) {
      y += row_height + gap;
      row_height = 0;
      column = 0;
    }
    panel.x = margin + static_cast<double>(column) * (width + gap);
    panel.y = y;
    row_height = std::max(row_height, panel.height);
    picture.width = std::max(picture.width, panel.x + panel.width);
  }
  picture.width = std::ceil(
      std::max(picture.width, margin + measure.text_width(picture.title, title_size)) + margin);
  picture.height = std::ceil(y + row_height + margin);
  return picture;
}

void paint(const HeatPicture& picture, Canvas& canvas) {
  canvas.rectangle(0, 0, picture.width, picture.height, white);
  if (!picture.title.empty()) {
    Label title{margin, margin + title_size / 2, picture.title, title_size};
    title.bold = true;
    canvas.write(title);
  }
  for (const Panel& panel : picture.panels) paint_panel(panel, Shifted(canvas, panel.x, panel.y));
}

}  // namespace fovea
