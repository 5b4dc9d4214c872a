// Where everything of a drawing stands, and painting it: shared by the pictures that are files.
#pragma once

#include "fovea/report/heat_colour.h"
#include "fovea/report/heat_grid.h"

namespace fovea {

// Which end of a text stands at its place.
enum class Anchor { start, middle, end };

// A line of text and its place.
struct Label {
  double x, y;                    // the anchor, in the middle of the line's height
  std::string text;               // of glyphs()
  double size = 12;               // of its letters
  Colour ink{0x1c, 0x23, 0x2b};   // of its letters too
  Anchor anchor = Anchor::start;  // what of it stands at the place
  bool upward = false;            // turned by a quarter, read from below
  bool bold = false;              // for titles
};

// What a picture is painted on. Text is made of glyphs() already.
class Canvas {
 public:
  virtual ~Canvas() = default;
  // How wide a text would be.
  virtual double text_width(const std::string& text, double size) const = 0;
  // Fills a rectangle.
  virtual void rectangle(double x, double y, double width, double height, Colour colour) = 0;
  // A straight stroke, and a filled circle.
  virtual void line(double x0, double y0, double x1, double y1, double width, Colour colour) = 0;
  virtual void disc(double x, double y, double radius, Colour colour) = 0;
  // Writes a line.
  virtual void write(const Label& label) = 0;
  // Puts a picture into a rectangle.
  virtual void image(double x, double y, double width, double height, const Picture& picture) = 0;
};

// A map's place. Cells start at (cells_x, cells_y); the words of a one-row map have places instead.
struct Panel {
  // A word of a one-row map.
  struct Word {
    double x, y, width;  // its place
    std::string text;    // of glyphs()
    float shade;         // of its background, 0..1
  };
  // A node and its neighbours round it.
  struct Star {
    // One of them.
    struct Neighbour {
      std::string name;  // of glyphs()
      float weight;      // of its edge
      double x, y;       // its place
    };
    std::string name;                   // of the node
    double x = 0, y = 0, radius = 0;    // its place, and how far off the others are
    float largest = 0;                  // of the weights
    std::vector<Neighbour> neighbours;  // heaviest first
  };
  // A picture as a query saw it.
  struct Tile {
    double x, y, width, height;  // its place
    Picture picture;             // as it is painted
  };
  std::string name;                                     // the map's
  HeatGrid grid;                                        // what its cells hold
  double x = 0, y = 0, width = 0, height = 0;           // the whole of it
  double cells_x = 0, cells_y = 0, cell = 0, font = 0;  // its cells and their size, its letters
  bool upright_keys = false;                            // keys are written upward
  std::vector<Word> words;                              // of a one-row map
  std::optional<Star> star;                             // of a node's
  std::vector<Tile> tiles{};                            // of a map over pictures,
  std::vector<Label> labels{};                          // and what is written to them
  std::string note;                                     // what was pooled
};

// A whole drawing.
struct HeatPicture {
  std::string title;             // one line above all
  double width = 0, height = 0;  // of all
  std::vector<Panel> panels;     // one for each map
};

// Places everything; `measure` tells how wide texts are.
HeatPicture heat_layout(const Drawing& drawing, const Canvas& measure);
// Paints what was placed.
void paint(const HeatPicture& picture, Canvas& canvas);

}  // namespace fovea
