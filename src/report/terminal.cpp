// Attention maps in a terminal: coloured blocks or shades, never wider than asked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "fovea/report/glyphs.h"
#include "fovea/report/heat_colour.h"
#include "fovea/report/heat_grid.h"

namespace fovea {
namespace {

constexpr int most_rows = 64, most_panels = 4, label_height = 8;

class Terminal {
 public:
  explicit Terminal(const TerminalOptions& options)
      : options_(options), width_(std::max(options.width, 16)) {}

  std::string draw(const AttentionMap& map);

 private:
  using Text = std::vector<Glyph>;

  Text glyphs_of(const std::string& text) const { return glyphs(text, options_.unicode); }
  Text shortened(const Text& text, int most) const {
    return cut(text, most, options_.unicode ? "…" : ".");
  }
  std::string mark(float shade) const;
  std::string filled(float shade, const std::string& text, int columns) const;
  void wrapped(const std::string& text);
  void legend(float largest);
  void words(const HeatGrid& grid, const AttentionMap& map);
  void matrix(const AttentionMap& map);
  void panel(const HeatGrid& grid, int64_t first, int64_t last);
  void key_labels(std::span<const Text> keys);

  TerminalOptions options_;
  int width_, label_ = 0, cell_ = 2;
  std::vector<Text> keys_, queries_;
  std::string out_;
};

// The character that stands for a shade where there is no colour.
std::string Terminal::mark(float shade) const {
  // The lowest twentieth stays blank: a softmax never gives zero, and a grey sheet tells nothing.
  if (!options_.unicode)
    return std::string(1, shade < 0.05f ? '.' : static_cast<char>('0' + std::min(9.f, shade * 10)));
  constexpr std::array<const char*, 5> marks{" ", "░", "▒", "▓", "█"};
  return shade < 0.05f ? marks[0] : marks[1 + std::min(3, static_cast<int>(shade * 4))];
}

// `text` on that shade, or the shade alone, filling `columns`.
std::string Terminal::filled(float shade, const std::string& text, int columns) const {
  if (options_.colour) {
    const Colour paper = heat_colour(shade), ink = ink_on(shade);
    return fmt::format("\x1b[48;2;{};{};{};38;2;{};{};{}m{}{:{}}\x1b[0m", paper.r, paper.g, paper.b,
                       ink.r, ink.g, ink.b, text, "", columns);
  }
  std::string result = text;
  for (int i = 0; i < columns; ++i) result += mark(shade);
  return result;
}

void Terminal::wrapped(const std::string& text) {
  int used = 0;
  for (size_t at = 0; at <= text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    const Text word = shortened(glyphs_of(text.substr(at, space - at)), width_);
    if (used > 0 && used + 1 + columns(word) > width_) {
      out_ += '\n';
      used = 0;
    }
    if (used > 0) out_ += ' ';
    used += columns(word) + (used > 0 ? 1 : 0);
    out_ += join(word);
    at = space + 1;
  }
  out_ += '\n';
}

void Terminal::legend(float largest) {
  if (options_.colour || options_.unicode) {
    const int steps = options_.colour ? 8 : 4;
    out_ += "0 ";
    for (int i = 0; i < steps; ++i)
      out_ += filled(options_.colour ? i / (steps - 1.f) : (i + 0.5f) / steps, "", 1);
    out_ += ' ' + weight_text(largest) + '\n';
  } else {
    out_ += ". to 9: 0-" + weight_text(largest) + '\n';
  }
}

// The keys themselves, each on its shade, as running text.
void Terminal::words(const HeatGrid& grid, const AttentionMap& map) {
  int used = 0;
  size_t group = 0;
  const std::vector<float> shades = group_shades(map);
  bool letters = options_.colour;
  for (const Text& key : keys_) letters = letters && key.size() <= 1;
  for (int64_t j = 0; j < grid.cols(); ++j) {
    const int tail = options_.colour ? 0 : 1;  // the mark behind a word
    const std::string colon = options_.colour || options_.unicode ? "" : ":";
    const int extra = tail + static_cast<int>(colon.size());
    const Text word = shortened(keys_[j], width_ - extra);
    const int needs = columns(word) + extra;
    if (group < map.groups.size() && static_cast<size_t>(j) == map.groups[group].first) {
      if (used > 0) out_ += '\n';
      out_ += filled(shades[group++], "", 2);
      used = 2;
    }
    const int gap = used > 0 && !letters ? 1 : 0;
    if (used > 0 && used + gap + needs > width_) {
      out_ += '\n';
      used = 0;
    } else if (gap > 0) {
      out_ += ' ';
      ++used;
    }
    out_ += filled(grid.at(0, j), join(word) + colon, tail);
    used += needs;
  }
  out_ += '\n';
}

void Terminal::key_labels(std::span<const Text> keys) {
  int widest = 0;
  size_t tallest = 0;
  for (const Text& key : keys) {
    widest = std::max(widest, columns(key));
    tallest = std::max(tallest, key.size());
  }
  const auto pad = [](int n) { return std::string(std::max(n, 0), ' '); };
  if (widest < cell_) {  // they fit as they are
    out_ += pad(label_ + 1);
    for (const Text& key : keys) out_ += join(key) + pad(cell_ - columns(key));
    out_ += '\n';
    return;
  }
  const size_t height = std::min<size_t>(tallest, label_height);
  for (size_t line = 0; line < height; ++line) {
    out_ += pad(label_ + 1);
    for (const Text& key : keys) {
      const size_t size = std::min(key.size(), height), start = height - size;
      const bool last_of_cut = key.size() > height && line + 1 == height;
      if (line < start) {
        out_ += pad(cell_);
      } else if (last_of_cut) {
        out_ += (options_.unicode ? "…" : ".") + pad(cell_ - 1);
      } else {
        const Glyph& glyph = key[line - start];
        const bool fits = glyph.columns <= cell_;
        out_ += (fits ? glyph.text : "?") + pad(cell_ - (fits ? glyph.columns : 1));
      }
    }
    out_ += '\n';
  }
}

void Terminal::panel(const HeatGrid& grid, int64_t first, int64_t last) {
  key_labels(std::span(keys_).subspan(first, last - first));
  for (int64_t i = 0; i < grid.rows(); ++i) {
    const Text label = shortened(queries_[i], label_);
    out_ += std::string(label_ - columns(label), ' ') + join(label) + ' ';
    for (int64_t j = first; j < last; ++j) out_ += filled(grid.at(i, j), "", cell_);
    out_ += '\n';
  }
}

void Terminal::matrix(const AttentionMap& map) {
  const auto all = [&](const std::vector<std::string>& names, std::vector<Text>& into) {
    int widest = 0;
    for (const std::string& name : names)
      widest = std::max(widest, columns(into.emplace_back(glyphs_of(name))));
    return widest;
  };
  label_ = std::min(all(map.queries, queries_), std::max(4, width_ / 4));
  const int widest = all(map.keys, keys_), room = width_ - label_ - 1;
  const int64_t keys = keys_.size();
  bool wide = false;
  for (const Text& key : keys_)
    for (const Glyph& glyph : key) wide = wide || glyph.columns > 1;
  if (widest <= 5 && keys * (widest + 1) <= room) {
    cell_ = std::max(2, widest + 1);
  } else {
    cell_ = wide || keys * 2 <= room * 2 ? 2 : 1;  // narrow cells before a third panel
  }
  const int64_t fit = room / cell_;
  const HeatGrid grid = heat_grid(map, most_rows, fit * most_panels);
  keys_.clear(), queries_.clear();
  all(grid.keys, keys_), all(grid.queries, queries_);
  for (int64_t first = 0; first < grid.cols(); first += fit) {
    const int64_t last = std::min(first + fit, grid.cols());
    if (grid.cols() > fit) {
      wrapped(fmt::format("Keys {}-{} of {}:", first * grid.keys_pooled + 1,
                          std::min(last * grid.keys_pooled, keys), keys));
    }
    panel(grid, first, last);
  }
  if (const std::string note = grid.note(); !note.empty()) wrapped(note);
  legend(grid.largest);
}

std::string Terminal::draw(const AttentionMap& map) {
  if (!map.name.empty()) wrapped(map.name);
  if (map.queries.empty() || map.keys.empty()) {
    wrapped(
        fmt::format("Nothing to draw: {} queries, {} keys.", map.queries.size(), map.keys.size()));
  } else if (map.queries.size() == 1) {
    const HeatGrid grid = heat_grid(map, 1, map.keys.size());
    for (const std::string& key : grid.keys) keys_.push_back(glyphs_of(key));
    words(grid, map);
    legend(grid.largest);
  } else {
    matrix(map);
  }
  return out_;
}

}  // namespace

std::string draw_terminal(const AttentionMap& map, const TerminalOptions& options) {
  return map.ground ? draw_picture_terminal(map, options) : Terminal(options).draw(map);
}

}  // namespace fovea
