// Pictures in a terminal: a character is two pixels, one above the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fovea/report/glyphs.h"
#include "fovea/report/heat_grid.h"
#include "fovea/report/picture_map.h"

namespace fovea {
namespace {

constexpr int most_tile = 32, least_tile = 12, most_label = 14, gap = 2;

// Lines of text side by side, all as wide as `columns`.
struct Block {
  int columns = 0;
  std::vector<std::string> lines;
};

std::string padded(const std::string& text, int columns_wanted, bool unicode) {
  const auto letters = cut(glyphs(text, unicode), columns_wanted, unicode ? "…" : ".");
  return join(letters) +
         std::string(static_cast<size_t>(std::max(0, columns_wanted - columns(letters))), ' ');
}

Block half_blocks(const Picture& tile) {
  Block block{static_cast<int>(tile.width), {}};
  for (int64_t y = 0; y < tile.height; y += 2) {
    std::string text;
    for (int64_t x = 0; x < tile.width; ++x) {
      text +=
          fmt::format("\x1b[38;2;{};{};{}", tile.at(y, x, 0), tile.at(y, x, 1), tile.at(y, x, 2));
      if (y + 1 < tile.height) {
        text += fmt::format(";48;2;{};{};{}", tile.at(y + 1, x, 0), tile.at(y + 1, x, 1),
                            tile.at(y + 1, x, 2));
      }
      text += "m▀";
      if (y + 1 >= tile.height) text += "\x1b[0m";
    }
    block.lines.push_back(text + "\x1b[0m");
  }
  return block;
}

// Of each region a mark, two columns wide while there is room.
Block region_marks(const AttentionMap& map, size_t query, float largest, int most, bool unicode) {
  const PictureGround& ground = *map.ground;
  const int cell = ground.columns * 2 <= most ? 2 : 1;
  Block block{static_cast<int>(ground.columns) * cell, {}};
  constexpr std::array<const char*, 5> marks{"·", "░", "▒", "▓", "█"};
  for (int64_t i = 0; i < ground.rows; ++i) {
    std::string text;
    for (int64_t j = 0; j < ground.columns; ++j) {
      const float weight =
          map.weights[query * map.keys.size() + static_cast<size_t>(i * ground.columns + j)];
      const float shade = largest > 0 ? std::clamp(weight / largest, 0.f, 1.f) : 0.f;
      const std::string mark =
          unicode
              ? (shade < 0.05f ? marks[0] : marks[1 + std::min(3, static_cast<int>(shade * 4))])
              : std::string(
                    1, shade < 0.05f ? '.' : static_cast<char>('0' + std::min(9.f, shade * 10)));
      for (int k = 0; k < cell; ++k) text += mark;
    }
    block.lines.push_back(std::move(text));
  }
  return block;
}

// Blocks with their labels above them, as many in a row as fit.
std::string side_by_side(const std::vector<std::pair<std::string, Block>>& blocks, int width,
                         bool unicode) {
  std::string out;
  for (size_t from = 0; from < blocks.size();) {
    size_t to = from;
    int used = 0;
    size_t tallest = 0;
    while (to < blocks.size() && (to == from || used + gap + blocks[to].second.columns <= width)) {
      used += (to == from ? 0 : gap) + blocks[to].second.columns;
      tallest = std::max(tallest, blocks[to].second.lines.size());
      ++to;
    }
    std::string labels;
    for (size_t i = from; i < to; ++i) {
      labels += (i == from ? "" : std::string(gap, ' ')) +
                padded(blocks[i].first, blocks[i].second.columns, unicode);
    }
    labels.erase(labels.find_last_not_of(' ') + 1);
    out += labels + '\n';
    for (size_t l = 0; l < tallest; ++l) {
      for (size_t i = from; i < to; ++i) {
        const Block& block = blocks[i].second;
        if (i > from) out += std::string(gap, ' ');
        out += l < block.lines.size() ? block.lines[l]
                                      : std::string(static_cast<size_t>(block.columns), ' ');
      }
      out += '\n';
    }
    from = to;
  }
  return out;
}

// As wide as its label, within reason.
Block wide_enough(Block block, const std::string& label, int width, bool unicode) {
  const int wanted = std::min({columns(glyphs(label, unicode)), most_label, width});
  const auto more = static_cast<size_t>(std::max(0, wanted - block.columns));
  for (std::string& line : block.lines) line += std::string(more, ' ');
  block.columns += static_cast<int>(more);
  return block;
}

// Broken between words.
std::string wrapped(const std::string& text, int width) {
  std::string out, line;
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    if (!line.empty() && static_cast<int>(line.size() + 1 + word.size()) > width) {
      out += line + '\n';
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    at = space + 1;
  }
  return out + line + '\n';
}

std::string label_of(const PictureStrip& strip) {
  return strip.largest > 0 ? strip.label + " " + weight_text(strip.largest) : strip.label;
}

}  // namespace

std::string draw_picture_terminal(const AttentionMap& map, const TerminalOptions& options) {
  const int width = std::max(options.width, 16);
  std::string out =
      map.name.empty() ? "" : join(cut(glyphs(map.name, options.unicode), width, ".")) + "\n";
  const PictureGround& ground = *map.ground;
  const bool film = ground.pictures.size() > 1;
  const int64_t longer =
      std::max<int64_t>({ground.pictures.at(0).height, ground.pictures[0].width, 1});
  // Three pictures in a row, or a film in one row while its frames can be told.
  const auto in_row = film ? static_cast<int>(ground.pictures.size()) : 3;
  const int fits = (width + gap) / in_row - gap;
  const auto side = static_cast<int64_t>(std::clamp(fits, least_tile, most_tile));
  const auto strips =
      picture_strips(map, std::min<int64_t>(side, std::max<int64_t>(longer, least_tile)));
  std::vector<std::pair<std::string, Block>> blocks;
  if (options.colour) {
    for (size_t s = 0; s < (film ? 1 : strips.size()); ++s) {
      for (size_t i = 0; i < strips[s].tiles.size(); ++i) {
        blocks.emplace_back(
            film ? map.keys.at(i * map.keys.size() / strips[s].tiles.size()) : label_of(strips[s]),
            half_blocks(strips[s].tiles[i]));
      }
    }
  } else if (!film && ground.rows > 0) {
    for (size_t q = 0; q < map.queries.size(); ++q) {
      blocks.emplace_back(label_of(strips[q + 1]),
                          region_marks(map, q, strips[q + 1].largest, width, options.unicode));
    }
  } else if (!film) {
    for (size_t q = 0; q < map.queries.size(); ++q) {
      std::string text = map.queries[q];
      for (const PictureBox& box :
           q < ground.boxes.size() ? ground.boxes[q] : std::vector<PictureBox>()) {
        text += fmt::format("  {:g} x {:g} at ({:g}, {:g})", box.width, box.height, box.x, box.y);
      }
      out += join(cut(glyphs(text, options.unicode), width, ".")) + "\n";
    }
  }
  for (auto& [label, block] : blocks) {
    block = wide_enough(std::move(block), label, width, options.unicode);
  }
  out += side_by_side(blocks, width, options.unicode);
  if (film) {  // what each word took from each frame is a matrix
    AttentionMap matrix = map;
    matrix.ground = nullptr;
    matrix.name.clear();
    out += (blocks.empty() ? "" : "\n") + draw_terminal(matrix, options);
  } else if (ground.rows > 0) {
    out += wrapped(options.colour
                       ? "a region's weight is what is left of its veil; the number is the heaviest"
                       : "shades are of each word's heaviest region, whose weight is the number",
                   width);
  }
  return out;
}

}  // namespace fovea
