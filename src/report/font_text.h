// Lines of text in every script that this machine has a font for: fontconfig finds the fonts,
// HarfBuzz shapes (Arabic joins, Devanagari orders), FreeType draws.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace fovea {

// A line, ready to be drawn; places are in pixels from its left end, y downwards from the baseline.
struct ShapedLine {
  // One glyph.
  struct Bitmap {
    int x, y, width, height;   // its place and size
    std::vector<uint8_t> ink;  // row by row, 0 none .. 255 full
  };
  double width = 0;            // of all of it
  std::vector<Bitmap> glyphs;  // none where only the width was asked for
};

// The fonts of this machine.
class FontText {
 public:
  // Null where the machine has no font at all.
  static std::shared_ptr<FontText> open();
  virtual ~FontText() = default;

  // Parts that read from right to left are placed so; a character that no font has is a hollow box.
  virtual ShapedLine shape(const std::string& text, double pixels, bool bold, bool draw) = 0;
  // The characters so far that no font has, each once.
  virtual std::string missing() const = 0;
};

}  // namespace fovea
