// Every layer and head of a model at once: the grids of the pages, and of the pictures that are
// files.
#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/report/comparison_page.h"
#include "fovea/report/heat_layout.h"
#include "fovea/report/heat_map_json.h"
#include "support/browser.h"
#include "support/count.h"

namespace fovea::test {
namespace {

using nlohmann::json;

const std::vector<std::string> encoder_decoder{"encoder/*/self", "decoder/*/self",
                                               "decoder/*/cross"};

// Head h gives 0.9 to key h (of four), so that the words below a map tell which one is shown.
Drawing heads_of(int layers, int heads, const std::vector<std::string>& kinds) {
  Drawing drawing{"heads", {}};
  for (const std::string& kind : kinds) {
    for (int layer = 0; layer < layers; ++layer) {
      for (int head = 1; head <= heads; ++head) {
        AttentionMap map{kind, {"a", "b", "c"}, {"k0", "k1", "k2", "k3"}, std::vector<float>(12)};
        map.name.replace(map.name.find('*'), 1, std::to_string(layer));
        map.name += say(" head ", head);
        for (int i = 0; i < 3; ++i) map.weights[i * 4 + head % 4] = 0.9f;
        drawing.maps.push_back(map);
      }
    }
  }
  return drawing;
}

// The button of one small map; head 0 is the mean of its row.
std::string cell(const std::string& kind, int layer, int head) {
  return say("document.querySelector('[data-kind=\"", kind, "\"][data-layer=\"", layer,
             "\"][data-head=\"", head, "\"]')");
}

TEST(HeadGrid, HasASmallMapForEveryLayerAndHeadOfEveryKind) {
  NEED_CHROMIUM();
  const std::string dom = rendered(draw_html(heads_of(2, 3, encoder_decoder)));
  expect_drawn(dom);
  EXPECT_EQ(count(dom, "class=\"head-grid\""), 3u);
  EXPECT_EQ(count(dom, "<canvas"), 18u + 1) << "the small maps and the large one";
  EXPECT_EQ(count(dom, "aria-label=\"decoder self, layer 1, head 3\""), 1u);
  EXPECT_EQ(count(dom, "<option"), 3u + 2 + (1 + 3)) << "kinds, layers, the mean and the heads";
  EXPECT_NE(dom.find("<h2>decoder/1/cross, mean of 3 heads</h2>"), dom.npos) << dom;
  EXPECT_EQ(count(dom, "title=\"k1  0.30\""), 1u);
  EXPECT_EQ(count(dom, "aria-pressed=\"true\""), 1u);
}

TEST(HeadGrid, ChoosingASmallMapShowsItLarge) {
  NEED_CHROMIUM();
  const std::string page = draw_html(heads_of(2, 3, encoder_decoder));
  const std::string dom =
      rendered(page, cell("encoder/*/self", 0, 2) + ".click(); document.title = location.hash;");
  expect_drawn(dom);
  EXPECT_NE(dom.find("<h2>encoder/0/self head 2</h2>"), dom.npos) << dom;
  EXPECT_EQ(count(dom, "title=\"k2  0.90\""), 1u);
  EXPECT_EQ(count(dom, "aria-pressed=\"true\""), 1u);
  EXPECT_NE(dom.find("<title>#map=encoder/0/self&amp;head=2</title>"), dom.npos) << dom;
  EXPECT_NE(rendered(page, "", "#dark&map=decoder/0/self&head=3").find("decoder/0/self head 3</h2"),
            std::string::npos);
}

TEST(HeadGrid, ArrowKeysMoveAndListsChoose) {
  NEED_CHROMIUM();
  const std::string page = draw_html(heads_of(2, 3, {"decoder/*/self"}));
  const std::string keys = cell("decoder/*/self", 0, 1) +
                           R"(.focus();
    for (const key of ['ArrowUp', 'ArrowRight', 'ArrowDown', 'ArrowDown'])
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    document.activeElement.click();)";
  const std::string moved = rendered(page, keys);
  expect_drawn(moved);
  EXPECT_NE(moved.find("<h2>decoder/1/self head 2</h2>"), moved.npos) << moved;
  const std::string listed = rendered(page, R"(
    for (const [at, value] of [[0, '0'], [1, '3']]) {
      const list = document.querySelectorAll('select')[at];
      list.value = value;
      list.dispatchEvent(new Event('change'));
    })");
  expect_drawn(listed);
  EXPECT_NE(listed.find("<h2>decoder/0/self head 3</h2>"), listed.npos) << listed;
}

// Three choices: one map only, two heads, four heads; two examples.
json mixed_comparison() {
  json all{{"choices", json::array()}, {"examples", json::array()}};
  const std::vector<Drawing> drawings{{"", {{"attention", {"a", "b"}, {"x", "y"}, {1, 0, 0, 1}}}},
                                      heads_of(2, 2, encoder_decoder),
                                      heads_of(2, 3, encoder_decoder)};
  json views = json::array();
  for (size_t i = 0; i < drawings.size(); ++i) {
    all["choices"].push_back({{"name", say("model ", i)}});
    views.push_back({{"choice", i}, {"output", "out"}, {"maps", to_json(drawings[i])["maps"]}});
  }
  for (const char* input : {"first", "second"})
    all["examples"].push_back({{"input", input}, {"truth", "out"}, {"choices", views}});
  return all;
}

TEST(HeadGrid, StandsBesideModelsWithoutOne) {
  NEED_CHROMIUM();
  const std::string dom = rendered(comparison_page(mixed_comparison()));
  expect_drawn(dom);
  EXPECT_EQ(count(dom, "class=\"heat\""), 3u);
  EXPECT_EQ(count(dom, "class=\"head-grids\""), 2u);
  EXPECT_EQ(count(dom, "<canvas"), 3u + 12 + 18);
  EXPECT_EQ(count(dom, "class=\"heat-name\">decoder/1/cross, mean of"), 2u);
  EXPECT_EQ(dom.find(">attention<"), dom.npos) << "a model's only map needs no name to choose it";
}

TEST(HeadGrid, AChoiceHoldsForEveryModelAndExample) {
  NEED_CHROMIUM();
  const std::string page = comparison_page(mixed_comparison());
  const std::string dom = rendered(
      page, cell("encoder/*/self", 0, 3) +
                ".click(); document.querySelector('[aria-label=\"Next example\"]').click();");
  expect_drawn(dom);
  EXPECT_NE(dom.find("<dd>second</dd>"), dom.npos) << dom;
  EXPECT_EQ(count(dom, "class=\"heat-name\">encoder/0/self head 3<"), 1u) << dom;
  EXPECT_EQ(count(dom, "class=\"heat-name\">encoder/0/self, mean of 2 heads<"), 1u)
      << "a model without a third head shows the mean of those it has";
}

TEST(HeadGrid, IsNotThereForASingleMap) {
  NEED_CHROMIUM();
  json comparison = mixed_comparison();
  for (json& example : comparison["examples"])
    example["choices"].erase(2), example["choices"].erase(1);
  for (const std::string& page :
       {comparison_page(comparison),
        draw_html({"", {{"encoder/0/self", {"a", "b"}, {"x", "y"}, {1, 0, 0, 1}}}})}) {
    const std::string dom = rendered(page);
    expect_drawn(dom);
    EXPECT_EQ(count(dom, "class=\"heat\""), 1u);
    EXPECT_EQ(dom.find("class=\"head-grid"), dom.npos);
    EXPECT_EQ(dom.find("class=\"heat-name"), dom.npos);
    EXPECT_EQ(count(dom, "<canvas"), 1u);
    EXPECT_EQ(dom.find(">Map<"), dom.npos);
  }
}

class Measure : public Canvas {
 public:
  double text_width(const std::string& text, double size) const override {
    return static_cast<double>(text.size()) * size * 0.6;
  }
  void rectangle(double, double, double, double, Colour) override {}
  void line(double, double, double, double, double, Colour) override {}
  void disc(double, double, double, Colour) override {}
  void write(const Label&) override {}
  void image(double, double, double, double, const Picture&) override {}
};

TEST(HeadGrid, OfAFileHasARowForEveryLayer) {
  for (const int heads : {2, 8, 16}) {
    const Drawing drawing = heads_of(3, heads, {"encoder/*/self"});
    const HeatPicture picture = heat_layout(drawing, Measure());
    for (int i = 0; i < 3 * heads; ++i) {
      const Panel& panel = picture.panels[i];
      EXPECT_EQ(panel.y, picture.panels[i / heads * heads].y) << drawing.maps[i].name;
      EXPECT_EQ(panel.x, picture.panels[i % heads].x) << drawing.maps[i].name;
    }
    EXPECT_LT(picture.panels[0].y, picture.panels[heads].y);
    EXPECT_LT(picture.panels[0].x, picture.panels[1].x);
  }
}

}  // namespace
}  // namespace fovea::test
