// Heat maps as a self-contained SVG document.
#include <fmt/format.h>

#include <iterator>

#include "fovea/base/base64.h"
#include "fovea/report/glyphs.h"
#include "fovea/report/heat_layout.h"
#include "fovea/report/markup.h"

namespace fovea {
namespace {

class SvgCanvas : public Canvas {
 public:
  // The font is monospaced so that this holds in every viewer: 0.6 of the size a column.
  double text_width(const std::string& text, double size) const override {
    return columns(glyphs(text)) * size * 0.602;
  }

  void rectangle(double x, double y, double width, double height, Colour c) override {
    fmt::format_to(std::back_inserter(body),
                   "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" "
                   "fill=\"#{:02x}{:02x}{:02x}\"/>\n",
                   x, y, width, height, c.r, c.g, c.b);
  }

  void line(double x0, double y0, double x1, double y1, double width, Colour c) override {
    fmt::format_to(std::back_inserter(body),
                   "<line x1=\"{:.6g}\" y1=\"{:.6g}\" x2=\"{:.6g}\" y2=\"{:.6g}\" "
                   "stroke-width=\"{:.4g}\" stroke=\"#{:02x}{:02x}{:02x}\" "
                   "shape-rendering=\"auto\"/>\n",
                   x0, y0, x1, y1, width, c.r, c.g, c.b);
  }

  void disc(double x, double y, double radius, Colour c) override {
    fmt::format_to(std::back_inserter(body),
                   "<circle cx=\"{:.6g}\" cy=\"{:.6g}\" r=\"{:.4g}\" "
                   "fill=\"#{:02x}{:02x}{:02x}\" shape-rendering=\"auto\"/>\n",
                   x, y, radius, c.r, c.g, c.b);
  }

  void write(const Label& label) override {
    constexpr const char* anchors[] = {"start", "middle", "end"};
    // A text that reads from right to left starts at its right end.
    const bool leftward = reads_leftward(label.text);
    const int anchor = static_cast<int>(label.anchor);
    const Colour c = label.ink;
    fmt::format_to(std::back_inserter(body),
                   "<text transform=\"translate({:.6g} {:.6g}){}\" dy=\".35em\" font-size=\"{:g}\" "
                   "text-anchor=\"{}\" fill=\"#{:02x}{:02x}{:02x}\"{}{}>{}</text>\n",
                   label.x, label.y, label.upward ? " rotate(-90)" : "", label.size,
                   anchors[leftward ? 2 - anchor : anchor], c.r, c.g, c.b,
                   label.bold ? " font-weight=\"600\"" : "", leftward ? " direction=\"rtl\"" : "",
                   escaped_markup(label.text));
  }

  void image(double x, double y, double width, double height, const Picture& picture) override {
    fmt::format_to(std::back_inserter(body),
                   "<image x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" "
                   "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>\n",
                   x, y, width, height, base64_of(encode_png(picture)));
  }

  std::string body;
};

}  // namespace

std::string draw_svg(const Drawing& drawing) {
  SvgCanvas canvas;
  const HeatPicture picture = heat_layout(drawing, canvas);
  paint(picture, canvas);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
      "height=\"{1:g}\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', "
      "monospace\" "
      "shape-rendering=\"crispEdges\" xml:space=\"preserve\">\n<title>{2}</title>\n{3}</svg>\n",
      picture.width, picture.height, escaped_markup(picture.title), canvas.body);
}

}  // namespace fovea
