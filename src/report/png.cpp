// Heat maps as a PNG, at two pixels a unit, in the machine's fonts; without any, with the quads of
// stb_easy_font as letters.
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_easy_font.h>
#include <stb/stb_image_write.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/report/font_text.h"
#include "fovea/report/glyphs.h"
#include "fovea/report/heat_layout.h"

namespace fovea {
namespace {

constexpr int pixels = 2;  // a unit of the layout

// Signs of our own that the font lacks, and an arrow that titles like, in its letters.
std::vector<Glyph> drawable(const std::string& text) {
  std::vector<Glyph> result;
  for (Glyph& glyph : glyphs(text)) {
    if (glyph.text == "→") result.push_back({"-", 1});
    if (glyph.text == "…") glyph.text = ".";
    if (glyph.text == "␣") glyph.text = "_";
    if (glyph.text == "→") glyph.text = ">";
    result.push_back(std::move(glyph));
  }
  return result;
}

class PngCanvas : public Canvas {
 public:
  explicit PngCanvas(std::shared_ptr<FontText> fonts) : fonts_(std::move(fonts)) {}

  void resize(int width, int height) {
    width_ = width, height_ = height;
    image_.assign(static_cast<size_t>(width) * height * 3, 255);
  }

  double text_width(const std::string& text, double size) const override {
    if (fonts_) return fonts_->shape(text, size * pixels, false, false).width / pixels;
    int sum = 0;
    for (const Glyph& glyph : drawable(text)) sum += advance(glyph);
    return static_cast<double>(sum) * magnified(size) / pixels;
  }

  void rectangle(double x, double y, double width, double height, Colour colour) override {
    const auto at = [](double v) { return static_cast<int>(std::lround(v * pixels)); };
    fill(at(x), at(y), at(x + width), at(y + height), colour);
  }

  // Inked by how much of a pixel's width lies inside.
  void line(double x0, double y0, double x1, double y1, double width, Colour colour) override {
    const double dx = x1 - x0, dy = y1 - y0, length = dx * dx + dy * dy;
    const double half = std::max(0.5, width * pixels / 2);
    cover(std::min(x0, x1), std::min(y0, y1), std::max(x0, x1), std::max(y0, y1), half, colour,
          [&](double x, double y) {
            const double t =
                length > 0 ? std::clamp(((x - x0) * dx + (y - y0) * dy) / length, 0.0, 1.0) : 0;
            return std::hypot(x - x0 - t * dx, y - y0 - t * dy);
          });
  }
  void disc(double x, double y, double radius, Colour colour) override {
    cover(x, y, x, y, radius * pixels, colour,
          [&](double px, double py) { return std::hypot(px - x, py - y); });
  }

  void write(const Label& label) override;

  void image(double x, double y, double width, double height, const Picture& picture) override {
    const auto at = [](double v) { return static_cast<int>(std::lround(v * pixels)); };
    const int left = at(x), top = at(y), wide = at(x + width) - left, tall = at(y + height) - top;
    for (int i = 0; i < tall; ++i) {
      const int64_t row = i * picture.height / tall;
      for (int j = 0; j < wide; ++j) {
        const int64_t column = j * picture.width / wide;
        const Colour c{picture.at(row, column, 0), picture.at(row, column, 1),
                       picture.at(row, column, 2)};
        fill(left + j, top + i, left + j + 1, top + i + 1, c);
      }
    }
  }

  std::string encoded() const;

 private:
  // Letters are whole multiples of their grid: between them they would blur.
  static int magnified(double size) { return std::max(1, static_cast<int>(size * pixels / 10)); }
  static bool known(const Glyph& glyph) { return glyph.text.size() == 1; }
  static int advance(const Glyph& glyph) {
    if (!known(glyph)) return 6 * glyph.columns;
    std::string letter = glyph.text;
    return stb_easy_font_width(letter.data());
  }

  void fill(int left, int top, int right, int bottom, Colour colour) {
    for (int y = std::max(top, 0); y < std::min(bottom, height_); ++y) {
      for (int x = std::max(left, 0); x < std::min(right, width_); ++x) {
        uint8_t* pixel = &image_[(static_cast<size_t>(y) * width_ + x) * 3];
        pixel[0] = colour.r, pixel[1] = colour.g, pixel[2] = colour.b;
      }
    }
  }

  // Pixels that are within `half` of what `distance`, in units of the layout, tells of.
  template <class F>
  void cover(double left, double top, double right, double bottom, double half, Colour colour,
             const F& distance) {
    const auto low = [half](double v) { return static_cast<int>(std::floor(v * pixels - half)); };
    const auto high = [half](double v) { return static_cast<int>(std::ceil(v * pixels + half)); };
    for (int y = low(top); y <= high(bottom); ++y) {
      for (int x = low(left); x <= high(right); ++x) {
        const double far = distance((x + 0.5) / pixels, (y + 0.5) / pixels) * pixels;
        const double ink = std::clamp(half - far + 0.5, 0.0, 1.0);
        blend(x, y, colour, static_cast<uint8_t>(std::lround(255 * ink)));
      }
    }
  }

  void blend(int x, int y, Colour colour, uint8_t ink) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_ || ink == 0) return;
    uint8_t* pixel = &image_[(static_cast<size_t>(y) * width_ + x) * 3];
    const auto mix = [&](uint8_t& to, uint8_t from) {
      to = static_cast<uint8_t>((to * (255 - ink) + from * ink + 127) / 255);
    };
    mix(pixel[0], colour.r), mix(pixel[1], colour.g), mix(pixel[2], colour.b);
  }
  void write_in_fonts(const Label& label);

  std::shared_ptr<FontText> fonts_;
  int width_ = 0, height_ = 0;
  std::vector<uint8_t> image_;
};

void PngCanvas::write_in_fonts(const Label& label) {
  const double size = label.size * pixels;
  const ShapedLine line = fonts_->shape(label.text, size, label.bold, true);
  const double back = label.anchor == Anchor::start ? 0 : label.anchor == Anchor::end ? 1 : 0.5;
  const int along = -static_cast<int>(std::lround(line.width * back));
  const int baseline = static_cast<int>(std::lround(0.35 * size));  // below the middle of a line
  const int x0 = static_cast<int>(std::lround(label.x * pixels));
  const int y0 = static_cast<int>(std::lround(label.y * pixels));
  for (const ShapedLine::Bitmap& glyph : line.glyphs) {
    for (int y = 0; y < glyph.height; ++y) {
      for (int x = 0; x < glyph.width; ++x) {
        const uint8_t ink = glyph.ink[static_cast<size_t>(y) * glyph.width + x];
        const int a = along + glyph.x + x, b = baseline + glyph.y + y;
        if (label.upward) {
          blend(x0 + b, y0 - a, label.ink, ink);
        } else {
          blend(x0 + a, y0 + b, label.ink, ink);
        }
      }
    }
  }
}

void PngCanvas::write(const Label& label) {
  if (fonts_) {
    write_in_fonts(label);
    return;
  }
  constexpr int middle = 5;  // of a line of capitals, in the font's own grid
  const int times = magnified(label.size);
  const double length = text_width(label.text, label.size) * pixels;
  const double back = label.anchor == Anchor::start ? 0 : label.anchor == Anchor::end ? 1 : 0.5;
  const int x0 = static_cast<int>(std::lround(label.x * pixels));
  const int y0 = static_cast<int>(std::lround(label.y * pixels));
  const int start = -static_cast<int>(std::lround(length * back));
  // A rectangle of the font's grid, placed along the line of writing.
  const auto stroke = [&](int pen, double left, double top, double right, double bottom) {
    const auto at = [&](double v) { return static_cast<int>(std::lround(v * times)); };
    const int a = start + pen * times + at(left), b = start + pen * times + at(right);
    const int c = at(top - middle), d = at(bottom - middle);
    if (label.upward)
      fill(x0 + c, y0 - b, x0 + d, y0 - a, label.ink);
    else
      fill(x0 + a, y0 + c, x0 + b, y0 + d, label.ink);
  };
  struct Vertex {
    float x, y, z;
    uint8_t colour[4];
  };
  int pen = 0;
  for (const Glyph& glyph : drawable(label.text)) {
    if (known(glyph)) {
      std::string letter = glyph.text;
      std::array<Vertex, 4 * 64> quads;
      const int count =
          stb_easy_font_print(0, 0, letter.data(), nullptr, quads.data(), sizeof quads);
      for (int i = 0; i < count; ++i)
        stroke(pen, quads[4 * i].x, quads[4 * i].y, quads[4 * i + 2].x, quads[4 * i + 2].y);
    } else {  // a hollow box
      const int right = 6 * glyph.columns - 2;
      stroke(pen, 0, 2, right, 3), stroke(pen, 0, 8, right, 9);
      stroke(pen, 0, 2, 1, 9), stroke(pen, right - 1, 2, right, 9);
    }
    pen += advance(glyph);
  }
}

std::string png_of(int width, int height, int channels, const uint8_t* pixels_of) {
  std::string bytes;
  const auto append = [](void* into, void* data, int size) {
    static_cast<std::string*>(into)->append(static_cast<const char*>(data), size);
  };
  const int ok =
      stbi_write_png_to_func(append, &bytes, width, height, channels, pixels_of, width * channels);
  check(ok != 0, "draw_png: could not encode ", width, " x ", height, " pixels");
  return bytes;
}

std::string PngCanvas::encoded() const { return png_of(width_, height_, 3, image_.data()); }

}  // namespace

std::string encode_png(const Picture& picture) {
  return png_of(static_cast<int>(picture.width), static_cast<int>(picture.height),
                static_cast<int>(picture.channels), picture.pixels.data());
}

std::string draw_png(const Drawing& drawing, std::string* lacking) {
  const auto fonts = FontText::open();
  PngCanvas canvas(fonts);
  const HeatPicture picture = heat_layout(drawing, canvas);
  canvas.resize(static_cast<int>(picture.width) * pixels,
                static_cast<int>(picture.height) * pixels);
  paint(picture, canvas);
  if (lacking != nullptr) {
    *lacking = !fonts ? "this machine has no fonts: letters beyond ASCII are boxes"
               : fonts->missing().empty() ? ""
                                          : "no font of this machine has " + fonts->missing() +
                                                ", which are drawn as boxes";
  }
  return canvas.encoded();
}

}  // namespace fovea
