// Letters of every script: shaped, in their order of writing, and boxes where no font has them.
#include "fovea/report/font_text.h"

#include <gtest/gtest.h>

#include <regex>

#include "fovea/report/glyphs.h"
#include "fovea/report/heat_map.h"

namespace fovea::test {
namespace {

TEST(FontText, WritesFromRightToLeftAndJoinsLetters) {
  const auto fonts = FontText::open();
  if (!fonts) GTEST_SKIP() << "this machine has no fonts";
  const auto line = [&](const std::string& text) { return fonts->shape(text, 40, false, true); };
  const ShapedLine latin = line("ab");
  ASSERT_EQ(latin.glyphs.size(), 2u);
  EXPECT_EQ(latin.glyphs[0].ink, line("a").glyphs[0].ink);
  EXPECT_LT(latin.glyphs[0].x, latin.glyphs[1].x);
  EXPECT_DOUBLE_EQ(latin.width, fonts->shape("ab", 40, false, false).width);

  const ShapedLine hebrew = line("אב");
  if (fonts->missing().empty()) {
    ASSERT_EQ(hebrew.glyphs.size(), 2u);
    const bool first_is_left = hebrew.glyphs[0].x < hebrew.glyphs[1].x;
    EXPECT_EQ(hebrew.glyphs[first_is_left ? 1 : 0].ink, line("א").glyphs[0].ink)
        << "the first letter stands on the right";
  }
  const ShapedLine joined = line("بب"), alone = line("ب");
  if (fonts->missing().empty()) {
    EXPECT_LT(joined.width, 2 * alone.width) << "a letter that is joined is another shape";
  }
  const size_t before = fonts->missing().size();
  EXPECT_GT(line("\uE000").width, 0);
  EXPECT_GT(fonts->missing().size(), before) << "nobody has a letter for private use";
}

TEST(FontText, PicturesBeginOnTheRightWhereTheTextDoes) {
  EXPECT_TRUE(reads_leftward("12 مرحبا abc"));
  EXPECT_FALSE(reads_leftward("abc مرحبا"));
  EXPECT_FALSE(reads_leftward("12"));
  const auto places = [](const std::vector<std::string>& keys) {
    const std::string svg = draw_svg({"", {{"map", {"q"}, keys, {0.5f, 0.5f}}}});
    std::vector<double> x;
    static const std::regex label("<text transform=\"translate\\(([0-9.]+) [^>]*>([^<]*)</text>");
    for (std::sregex_iterator at(svg.begin(), svg.end(), label), end; at != end; ++at) {
      for (const std::string& key : keys) {
        if ((*at)[2] == key) x.push_back(std::stod((*at)[1]));
      }
    }
    EXPECT_EQ(svg.find("direction=\"rtl\"") != std::string::npos, reads_leftward(keys[0]));
    return x;
  };
  const auto english = places({"one", "two"}), arabic = places({"مرحبا", "بالعالم"});
  ASSERT_EQ(english.size(), 2u);
  ASSERT_EQ(arabic.size(), 2u);
  EXPECT_LT(english[0], english[1]);
  EXPECT_GT(arabic[0], arabic[1]);
  std::string lacking;
  EXPECT_FALSE(draw_png({"", {{"map", {"q"}, {"\uE000", "b"}, {0.5f, 0.5f}}}}, &lacking).empty());
  EXPECT_NE(lacking.find("boxes"), std::string::npos);
}

}  // namespace
}  // namespace fovea::test
