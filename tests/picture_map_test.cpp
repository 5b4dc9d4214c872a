// Pictures with what was looked at laid over them.
#include <gtest/gtest.h>

#include <sstream>

#include "fovea/base/base64.h"
#include "fovea/data/picture_file.h"
#include "fovea/report/glyphs.h"
#include "fovea/report/heat_map.h"
#include "fovea/report/heat_map_json.h"
#include "support/browser.h"
#include "support/count.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

Picture plain(int64_t height, int64_t width, int64_t channels, uint8_t value) {
  return {height, width, channels,
          std::vector<uint8_t>(static_cast<size_t>(height * width * channels), value)};
}

// Two words over 2 x 3 regions.
AttentionMap looks(int64_t pictures = 1) {
  auto ground = std::make_shared<PictureGround>();
  ground->rows = pictures > 1 ? 1 : 2, ground->columns = pictures > 1 ? 1 : 3;
  AttentionMap map{"decoder/attention", {"red", "circle"}, {}, {}};
  for (int64_t p = 0; p < pictures; ++p) {
    ground->pictures.push_back(plain(12, 18, 3, 200));
    for (int64_t r = 0; r < ground->rows * ground->columns; ++r) {
      map.keys.push_back(std::to_string(map.keys.size() + 1));
    }
  }
  for (size_t q = 0; q < 2; ++q) {
    for (size_t k = 0; k < map.keys.size(); ++k) map.weights.push_back(k == q ? 0.5f : 0.1f);
  }
  map.ground = ground;
  return map;
}

TEST(PictureMap, TheHeaviestRegionIsClearAndTheRestVeiled) {
  const auto strips = picture_strips(looks(), 36);
  ASSERT_EQ(strips.size(), 3u);
  EXPECT_EQ(strips[0].tiles[0].pixels, plain(24, 36, 3, 200).pixels) << "as it is";
  EXPECT_EQ(strips[1].label, "red");
  EXPECT_FLOAT_EQ(strips[1].largest, 0.5f);
  const Picture& red = strips[1].tiles[0];
  EXPECT_EQ(red.height, 24);
  EXPECT_EQ(red.width, 36);
  EXPECT_EQ(red.at(2, 2, 0), 200) << "region 1";
  EXPECT_LT(red.at(2, 20, 0), 170) << "region 2, at a fifth";
  EXPECT_EQ(strips[2].tiles[0].at(2, 20, 0), 200);
}

TEST(PictureMap, FramesBoxesAndPaths) {
  AttentionMap map{"glimpses", {"1", "2"}, {}, {}};
  auto ground = std::make_shared<PictureGround>();
  ground->pictures = {plain(20, 20, 1, 0)};
  ground->boxes = {{{2, 2, 6, 6}}, {{12, 12, 6, 6}, {10, 10, 10, 10}}};
  ground->path = true;
  map.ground = ground;
  const auto strips = picture_strips(map, 40);
  ASSERT_EQ(strips.size(), 3u);
  EXPECT_EQ(strips[0].tiles[0].at(20, 20, 0), 0xff) << "the path from (5, 5) to (15, 15)";
  EXPECT_EQ(strips[0].tiles[0].at(4, 30, 0), 0);
  EXPECT_EQ(strips[1].tiles[0].at(4, 8, 0), 0xff) << "the upper edge";
  EXPECT_EQ(strips[1].tiles[0].at(8, 8, 0), 0) << "inside";
  for (const bool colour : {true, false}) {
    EXPECT_NE(draw_terminal(map, {.colour = colour}).find("2"), std::string::npos);
  }
}

TEST(PictureMap, WrongSizesAreRefused) {
  AttentionMap map = looks();
  map.keys.pop_back();
  EXPECT_NE(error_of([&] { picture_strips(map, 20); }).find("need 6 keys, got 5"),
            std::string::npos);
  AttentionMap other = looks();
  other.ground = std::make_shared<PictureGround>();
  EXPECT_NE(error_of([&] { picture_strips(other, 20); }).find("needs a picture"),
            std::string::npos);
}

// Columns of a line, colours not counted.
int shown_columns(const std::string& line) {
  std::string text;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = line.find('m', i);
    } else {
      text += line[i];
    }
  }
  return columns(glyphs(text));
}

TEST(PictureMap, TerminalsAreNeverWiderThanAsked) {
  for (const int64_t pictures : {1, 8}) {
    for (const int width : {20, 80}) {
      for (const bool colour : {true, false}) {
        const std::string text = draw_terminal(looks(pictures), {.width = width, .colour = colour});
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
          EXPECT_LE(shown_columns(line), width) << text;
        }
        EXPECT_NE(text.find("circ"), std::string::npos) << text;
        EXPECT_EQ(text.find("▀") != std::string::npos, colour);
      }
    }
  }
}

TEST(PictureMap, FilesHoldEveryTile) {
  const Drawing drawing{"red circle", {looks(), looks(4)}};
  const std::string svg = draw_svg(drawing);
  EXPECT_EQ(count(svg, "<image "), 3 + 3 * 4);
  const std::string png = draw_png(drawing);
  const Picture back =
      decode_picture({reinterpret_cast<const unsigned char*>(png.data()), png.size()}, "drawn");
  EXPECT_GT(back.width, 400);
  const Picture small = plain(3, 2, 1, 7);
  const std::string bytes = encode_png(small);
  EXPECT_EQ(
      decode_picture({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, "x")
          .pixels,
      small.pixels);
}

TEST(PictureMap, JsonBringsThePicturesBack) {
  AttentionMap map = looks(2);
  const Drawing back = drawing_from_json(to_json(Drawing{"t", {map}}));
  ASSERT_TRUE(back.maps[0].ground);
  EXPECT_EQ(back.maps[0].ground->pictures[1].pixels, map.ground->pictures[1].pixels);
  EXPECT_EQ(back.maps[0].ground->columns, 1);
  auto json = to_json(Drawing{"t", {map}});
  json["maps"][0]["ground"]["pictures"][0]["height"] = 11;
  EXPECT_NE(error_of([&] { drawing_from_json(json); }).find("cannot have"), std::string::npos);
  json["maps"][0]["ground"]["pictures"][0]["pixels"] = "?";
  EXPECT_NE(error_of([&] { drawing_from_json(json); }).find("damaged"), std::string::npos);
}

TEST(PictureMap, Base64IsWhatEveryoneWrites) {
  const std::pair<std::string, std::string> known[] = {
      {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}};
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(base64_of(bytes), text);
    EXPECT_EQ(bytes_of_base64(text), bytes);
  }
  for (const char* bad : {"Z", "Zg=", "Z===", "Zg==Zg==", "Z g="}) {
    EXPECT_NE(error_of([&] { bytes_of_base64(bad); }), "") << bad;
  }
}

TEST(PictureMap, APageShowsThemAndLightsWhatIsPointedAt) {
  NEED_CHROMIUM();
  const std::string dom = rendered(draw_html({"red circle", {looks()}}),
                                   "document.querySelectorAll('.picture-tile')[2].dispatchEvent("
                                   "new PointerEvent('pointerenter'))");
  expect_drawn(dom);
  EXPECT_EQ(count(dom, "type=\"button\" class=\"picture-tile"), 3);
  EXPECT_NE(dom.find("<b>circle</b> looks most at region 2 with 0.50"), dom.npos) << dom;
  const std::string film = rendered(draw_html({"film", {looks(5)}}));
  expect_drawn(film);
  EXPECT_EQ(count(film, "<canvas"), 3 * 5);
}

}  // namespace
}  // namespace fovea::test
