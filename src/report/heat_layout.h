// Where everything of a drawing stands, and painting it: shared by the pictures that are files.
#pragma once

#include "fovea/report/heat_colour.h"
#include "fovea/report/heat_grid.h"

namespace fovea {

enum class Anchor { start, middle, end };

struct Label {
  double x, y;  // the anchor, in the middle of the line's height
  std::string text;
  double size = 12;
  Colour ink{0x1c, 0x23, 0x2b};
  Anchor anchor = Anchor::start;
  bool upward = false;  // turned by a quarter, read from below
  bool bold = false;
};

// What a picture is painted on. Text is made of glyphs() already.
class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual double text_width(const std::string& text, double size) const = 0;
  virtual void rectangle(double x, double y, double width, double height, Colour colour) = 0;
  virtual void write(const Label& label) = 0;
};

// A map's place. Cells start at (cells_x, cells_y); the words of a one-row map have places instead.
struct Panel {
  struct Word {
    double x, y, width;
    std::string text;
    float shade;
  };
  std::string name;
  HeatGrid grid;
  double x = 0, y = 0, width = 0, height = 0;
  double cells_x = 0, cells_y = 0, cell = 0, font = 0;
  bool upright_keys = false;
  std::vector<Word> words;
  std::string note;
};

struct Picture {
  std::string title;
  double width = 0, height = 0;
  std::vector<Panel> panels;
};

Picture heat_layout(const Drawing& drawing, const Canvas& measure);
void paint(const Picture& picture, Canvas& canvas);

}  // namespace fovea
