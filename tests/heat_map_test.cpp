// Pictures of attention: they hold their width, their order and their text, whatever they are
// given.
#include "fovea/report/heat_map.h"

#include <gtest/gtest.h>
#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <optional>
#include <regex>

#include "fovea/base/error.h"
#include "fovea/report/heat_colour.h"
#include "fovea/report/heat_map_json.h"
#include "support/count.h"

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

namespace fovea::test {
namespace {

AttentionMap map_of(std::vector<std::string> queries, std::vector<std::string> keys) {
  AttentionMap map{"attention", std::move(queries), std::move(keys), {}};
  const size_t n = map.queries.size() * map.keys.size();
  for (size_t i = 0; i < n; ++i) map.weights.push_back(static_cast<float>(i * 7 % n + 1) / n);
  return map;
}

std::vector<std::string> numbered(const std::string& stem, int n) {
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

// The widest line in columns as the C library counts them, colour codes taken out.
int display_width(const std::string& text) {
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  const locale_t before = uselocale(utf8);
  const std::string plain = std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
  int widest = 0, width = 0;
  for (size_t i = 0; i < plain.size();) {
    wchar_t c = 0;
    mbstate_t state{};
    const size_t size = mbrtowc(&c, plain.data() + i, plain.size() - i, &state);
    EXPECT_LT(size, size_t{5}) << "no UTF-8 at byte " << i;
    if (size > 4) break;
    i += std::max<size_t>(size, 1);
    if (c == L'\n')
      width = 0;
    else
      width += std::max(wcwidth(c), 0);
    widest = std::max(widest, width);
  }
  uselocale(before);
  return widest;
}

TEST(TerminalMap, NeverExceedsItsWidth) {
  const std::vector<std::string> wide{"日本語", "テキストの注意", "é́clair",
                                      "👁",   "\xff\xfe bad",   "\t\n"};
  const std::vector<AttentionMap> maps{
      map_of({"a"}, {"b"}),
      map_of({"a", "b"}, {"c"}),
      map_of(numbered("query", 200), numbered("a_rather_long_key_", 200)),
      map_of(wide, wide),
      map_of({"x"}, wide),
      map_of({"x"}, {std::string(300, 'w'), "b"}),
      map_of({std::string(300, 'q'), ""}, {std::string(300, 'k'), "", " "}),
      map_of({}, {"a", "b"}),
      map_of({"a"}, {}),
      map_of({}, {}),
      map_of(numbered("日本", 70), numbered("語", 90)),
  };
  for (const AttentionMap& map : maps) {
    for (const int width : {16, 37, 80, 200}) {
      for (const bool colour : {false, true}) {
        for (const bool unicode : {false, true}) {
          const std::string text = draw_terminal(map, {width, colour, unicode});
          EXPECT_LE(display_width(text), width) << text;
          EXPECT_TRUE(text.ends_with("\n"));
          if (!unicode) {
            EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > 0; }))
                << text;
          }
          if (!colour) {
            EXPECT_EQ(text.find('\x1b'), text.npos);
          }
        }
      }
    }
  }
}

TEST(TerminalMap, ShowsEveryWeightAsAShade) {
  AttentionMap map{"head 1", {"one", "zwei"}, {"a", "b", "c"}, {0, 1, .5f, 0.3f, 0, 0.8f}};
  EXPECT_EQ(draw_terminal(map, {40, false, true}),
            "head 1\n     a b c \n one   ██▓▓\nzwei ▒▒  ██\n0 ░▒▓█ 1.00\n");
  EXPECT_EQ(draw_terminal(map, {40, false, false}),
            "head 1\n     a b c \n one ..9955\nzwei 33..88\n. to 9: 0-1.00\n");
  const Colour most = heat_colour(1);
  const std::string block = say("48;2;", int{most.r}, ";", int{most.g}, ";", int{most.b});
  EXPECT_EQ(count(draw_terminal(map, {40, true, true}), block),
            2u);  // its cell and the legend's end
}

TEST(TerminalMap, WritesOneRowAsItsWords) {
  AttentionMap map{"", {"pool"}, {"a", "wonderful", "film"}, {0, 0.5f, 0.1f}};
  EXPECT_EQ(draw_terminal(map, {20, false, true}), "a  wonderful█ film░\n0 ░▒▓█ 0.50\n");
  EXPECT_EQ(draw_terminal(map, {18, false, false}), "a:. wonderful:9\nfilm:2\n. to 9: 0-0.50\n");
}

TEST(HeatMap, GroupsOfKeysBeginALineBehindTheirWeight) {
  AttentionMap map{
      "", {"pool"}, {"a", "fine", "film", "it", "rained"}, {.1f, .5f, .1f, .02f, .05f}};
  map.groups = {{0, 0.8f}, {3, 0.2f}};
  EXPECT_EQ(draw_terminal(map, {40, false, true}),
            "██ a░ fine█ film░\n▒▒ it  rained░\n0 ░▒▓█ 0.50\n");
  constexpr size_t background = 1, scale = 24, words = 5, groups = 2;
  EXPECT_EQ(count(draw_svg({"", {map}}), "<rect "), background + scale + words + groups);
  const Drawing back = drawing_from_json(to_json({"", {map}}));
  ASSERT_EQ(back.maps[0].groups.size(), 2u);
  EXPECT_EQ(back.maps[0].groups[1].first, 3u);
  EXPECT_FLOAT_EQ(back.maps[0].groups[1].weight, 0.2f);
}

TEST(TerminalMap, SaysWhatItPooledOrPutInPanels) {
  const std::string panels =
      draw_terminal(map_of({"a", "b"}, numbered("key", 50)), {80, false, true});
  EXPECT_NE(panels.find("Keys 1-39 of 50:"), panels.npos) << panels;
  EXPECT_NE(panels.find("Keys 40-50 of 50:"), panels.npos) << panels;
  EXPECT_EQ(panels.find("Pooled"), panels.npos);
  const std::string pooled =
      draw_terminal(map_of(numbered("q", 200), numbered("k", 1000)), {80, false, true});
  EXPECT_NE(pooled.find("each row stands for 4 queries and each column stands for 4 keys"),
            pooled.npos)
      << pooled;
  const std::string nothing = draw_terminal(map_of({}, {"a"}), {80, true, true});
  EXPECT_NE(nothing.find("Nothing to draw: 0 queries, 1 keys."), nothing.npos) << nothing;
}

TEST(HeatMap, RefusesWeightsThatDoNotFit) {
  AttentionMap map = map_of({"a", "b"}, {"c", "d"});
  map.weights.pop_back();
  EXPECT_THROW(draw_terminal(map), Error);
  EXPECT_THROW(draw_svg({"", {map}}), Error);
  EXPECT_THROW(draw_png({"", {map}}), Error);
  EXPECT_THROW(draw_html({"", {map}}), Error);
}

// Every element closed in order, every attribute quoted, no stray '<' or '&': enough XML for what
// we write. Returns the first thing wrong.
std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-zA-Z]+)((?: [a-zA-Z:-]+=\"[^\"<]*\")*)(/?)>");
  const std::regex reference("&(?:amp|lt|gt|quot);");
  for (size_t i = text.starts_with("<?xml") ? text.find("?>") + 2 : 0; i < text.size(); ++i) {
    std::smatch found;
    const auto from = text.begin() + static_cast<ptrdiff_t>(i);
    constexpr auto here = std::regex_constants::match_continuous;
    if (text[i] == '&' && !std::regex_search(from, text.end(), reference, here))
      return "a bare & at " + text.substr(i, 20);
    if (static_cast<unsigned char>(text[i]) < 32 && text[i] != '\n') return "a control character";
    if (text[i] != '<') continue;
    if (!std::regex_search(from, text.end(), found, tag, here))
      return "no tag: " + text.substr(i, 40);
    if (found[1].length() > 0) {
      if (open.empty() || open.back() != found[2]) return "closes " + found[2].str();
      open.pop_back();
    } else if (found[4].length() == 0) {
      open.push_back(found[2]);
    }
    i += found[0].length() - 1;
  }
  return open.empty() ? "" : "leaves open " + open.back();
}

TEST(SvgMap, IsWellFormedWhateverTheLabels) {
  EXPECT_NE(xml_fault("<a><b></a>"), "");
  EXPECT_NE(xml_fault("<a>&nbsp</a>"), "");
  const std::vector<std::string> nasty{"</text><script>", "a & b", "\"quoted\"",
                                       "\x01\x1b[0m",     "\xff",  "]]>"};
  const Drawing drawing{"<title> & more",
                        {map_of(nasty, nasty), map_of({"x"}, nasty), map_of({}, {})}};
  const std::string svg = draw_svg(drawing);
  EXPECT_EQ(xml_fault(svg), "") << svg;
  EXPECT_NE(svg.find("&lt;/text&gt;&lt;script&gt;"), svg.npos);
  EXPECT_EQ(svg.find("<script"), svg.npos);
  EXPECT_EQ(svg.find("http", svg.find("xmlns") + 10 + 30), svg.npos)
      << "it must need no other file";
  EXPECT_EQ(xml_fault(draw_svg({})), "");
}

TEST(SvgMap, DrawsOneRectangleACellAndTurnsLongKeys) {
  const std::string svg =
      draw_svg({"", {map_of({"a", "b", "c"}, {"some", "longer", "keys", "here"})}});
  constexpr size_t background = 1, scale = 24;
  EXPECT_EQ(count(svg, "<rect "), background + scale + 12);
  EXPECT_EQ(count(svg, "rotate(-90)"), 4u);
  const std::string words = draw_svg({"", {map_of({"a"}, {"some", "longer", "keys", "here"})}});
  EXPECT_EQ(count(words, "<rect "), background + scale + 4);
  EXPECT_EQ(count(words, "rotate(-90)"), 0u);
}

struct Image {
  int width = 0, height = 0;
  std::vector<Colour> pixels;
  Colour at(int x, int y) const { return pixels[static_cast<size_t>(y) * width + x]; }
};

Image decoded(const std::string& png) {
  Image image;
  int channels = 0;
  uint8_t* data = stbi_load_from_memory(reinterpret_cast<const uint8_t*>(png.data()),
                                        static_cast<int>(png.size()), &image.width, &image.height,
                                        &channels, 3);
  EXPECT_NE(data, nullptr);
  if (data == nullptr) return image;
  for (int i = 0; i < image.width * image.height; ++i)
    image.pixels.push_back({data[3 * i], data[3 * i + 1], data[3 * i + 2]});
  stbi_image_free(data);
  return image;
}

// The corner of the first square of that colour which is larger than any letter or scale.
std::optional<std::pair<int, int>> find_square(const Image& image, Colour colour) {
  constexpr int side = 32;
  for (int y = 0; y + side <= image.height; ++y) {
    for (int x = 0; x + side <= image.width; ++x) {
      bool all = true;
      for (int i = 0; i < side * side && all; ++i)
        all = image.at(x + i % side, y + i / side) == colour;
      if (all) return std::pair(x, y);
    }
  }
  return std::nullopt;
}

TEST(PngMap, ShowsCellsInOrderAndTheHeaviestDarkest) {
  const AttentionMap map = map_of({"one", "日本", "three"}, {"a", "long key", "c", "d"});
  const std::string png = draw_png({"A title", {map}});
  ASSERT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n"));
  const Image image = decoded(png);
  const auto light = [](Colour c) { return 0.21 * c.r + 0.72 * c.g + 0.07 * c.b; };
  const double largest = *std::max_element(map.weights.begin(), map.weights.end());
  std::vector<std::pair<int, int>> corners;
  double darkest = 255;
  for (const float weight : map.weights) {
    const Colour colour = heat_colour(static_cast<float>(weight / largest));
    const auto corner = find_square(image, colour);
    ASSERT_TRUE(corner) << "no cell of weight " << weight;
    corners.push_back(*corner);
    darkest = std::min(darkest, light(colour));
  }
  constexpr int pitch = 52;  // 26 units, two pixels each
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(corners[i].first, corners[0].first + i % 4 * pitch) << i;
    EXPECT_EQ(corners[i].second, corners[0].second + i / 4 * pitch) << i;
  }
  const size_t top = std::max_element(map.weights.begin(), map.weights.end()) - map.weights.begin();
  EXPECT_EQ(light(image.at(corners[top].first, corners[top].second)), darkest);
}

TEST(PngMap, HasTheSizeOfTheSvgTwiceOver) {
  // Without labels the two fonts do not matter.
  const AttentionMap map = map_of(std::vector<std::string>(9), std::vector<std::string>(20));
  Drawing drawing{"", {map}};
  drawing.maps[0].name = "";
  const std::string svg = draw_svg(drawing);
  std::smatch size;
  ASSERT_TRUE(std::regex_search(svg, size, std::regex("viewBox=\"0 0 ([0-9]+) ([0-9]+)\"")));
  const Image image = decoded(draw_png(drawing));
  EXPECT_EQ(image.width, 2 * std::stoi(size[1]));
  EXPECT_EQ(image.height, 2 * std::stoi(size[2]));
}

TEST(DrawingJson, ComesBackAsItWas) {
  const Drawing drawing{"título", {map_of({"a", "b"}, {"<", "日"}), map_of({"x"}, {"y"})}};
  const Drawing back = drawing_from_json(to_json(drawing));
  ASSERT_EQ(back.maps.size(), 2u);
  EXPECT_EQ(back.title, drawing.title);
  for (int i : {0, 1}) {
    EXPECT_EQ(back.maps[i].name, drawing.maps[i].name);
    EXPECT_EQ(back.maps[i].queries, drawing.maps[i].queries);
    EXPECT_EQ(back.maps[i].keys, drawing.maps[i].keys);
    ASSERT_EQ(back.maps[i].weights.size(), drawing.maps[i].weights.size());
    for (size_t j = 0; j < back.maps[i].weights.size(); ++j)
      EXPECT_NEAR(back.maps[i].weights[j], drawing.maps[i].weights[j], 1e-6);
  }
  EXPECT_THROW(drawing_from_json({{"title", "no maps"}}), Error);
  EXPECT_THROW(drawing_from_json(nlohmann::json::array()), Error);
  EXPECT_THROW(drawing_from_json(nlohmann::json::parse(
                   R"({"maps": [{"queries": ["a"], "keys": ["b"], "weights": []}]})")),
               Error);
}

}  // namespace
}  // namespace fovea::test
