#include "fovea/report/star_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "fovea/report/glyphs.h"

namespace fovea {
namespace {

constexpr size_t most = 24;  // neighbours: more would hide each other
constexpr double name_size = 13, letters = 11, thickest = 12, dot = 7;
constexpr Colour black{0x1c, 0x23, 0x2b}, grey{0x5b, 0x66, 0x73};

std::string neighbour_text(const std::string& name, float weight) {
  return name + " " + weight_text(weight);
}

std::string short_text(const std::string& text) { return join(cut(glyphs(text), 22, "…")); }

}  // namespace

void place_star(Panel& panel, const AttentionMap& map, const Canvas& canvas, bool alone) {
  std::vector<size_t> order(map.keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return map.weights[a] > map.weights[b]; });
  if (order.size() > most) {
    panel.note = fmt::format("The {} heaviest of {} neighbours.", most, order.size());
    order.resize(most);
  }
  const double radius = (alone ? 150 : 95) + 3 * static_cast<double>(order.size());
  double text = 0;
  for (size_t i : order) {
    const std::string name = neighbour_text(short_text(map.keys[i]), map.weights[i]);
    text = std::max(text, canvas.text_width(name, letters));
  }
  const double head = panel.name.empty() ? 0 : name_size + 12;
  Panel::Star star;
  star.x = radius + text + 24, star.y = head + radius + 26, star.radius = radius;
  star.name = short_text(map.queries[0]);
  star.largest = order.empty() ? 0 : map.weights[order[0]];
  for (size_t n = 0; n < order.size(); ++n) {
    const double turn =
        2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(order.size());
    star.neighbours.push_back({short_text(map.keys[order[n]]), map.weights[order[n]],
                               star.x + radius * std::sin(turn), star.y - radius * std::cos(turn)});
  }
  panel.width = 2 * star.x;
  panel.height = star.y + radius + 26;
  panel.star = std::move(star);
}

void paint_star(const Panel& panel, Canvas& canvas) {
  const Panel::Star& star = *panel.star;
  const auto part = [&](float weight) { return star.largest > 0 ? weight / star.largest : 0; };
  // The lightest first, so that heavy edges are whole.
  for (size_t i = star.neighbours.size(); i-- > 0;) {
    const auto& one = star.neighbours[i];
    canvas.line(star.x, star.y, one.x, one.y,
                std::max(0.75, thickest * static_cast<double>(part(one.weight))),
                heat_colour(0.15f + 0.85f * part(one.weight)));
  }
  for (const auto& one : star.neighbours) {
    canvas.disc(one.x, one.y, dot, black);
    const double aside = one.x - star.x;
    const bool above = std::abs(aside) < 1e-6;
    Label name{one.x, one.y, neighbour_text(one.name, one.weight), letters, grey};
    if (above) {
      name.y += one.y < star.y ? -14 : 14;
      name.anchor = Anchor::middle;
    } else {
      name.x += aside > 0 ? dot + 5 : -dot - 5;
      name.anchor = aside > 0 ? Anchor::start : Anchor::end;
    }
    canvas.write(name);
  }
  const double half = canvas.text_width(star.name, name_size) / 2 + 8;
  canvas.rectangle(star.x - half, star.y - 12, 2 * half, 24, black);
  Label name{star.x, star.y, star.name, name_size, Colour{255, 255, 255}, Anchor::middle};
  name.bold = true;
  canvas.write(name);
}

}  // namespace fovea
