// The pages that people send to each other: data stays data, and a browser draws them without
// errors.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/report/comparison_page.h"
#include "fovea/report/heat_map.h"
#include "support/browser.h"
#include "support/count.h"

namespace fovea::test {
namespace {

using nlohmann::json;

json map_of(int queries, int keys, const std::string& name = "attention") {
  json map{{"name", name},
           {"queries", json::array()},
           {"keys", json::array()},
           {"weights", json::array()}};
  for (int i = 0; i < queries; ++i) map["queries"].push_back("q" + std::to_string(i));
  for (int j = 0; j < keys; ++j) map["keys"].push_back("k" + std::to_string(j));
  for (int i = 0; i < queries; ++i) {
    json row = json::array();
    for (int j = 0; j < keys; ++j) row.push_back(std::exp(-std::abs(i - j)));
    map["weights"].push_back(row);
  }
  return map;
}

json choice_of(int index, int seeds) {
  json runs = json::array(), values = json::array();
  for (int seed = 0; seed < seeds; ++seed) {
    json curve = json::array();
    for (int step = 100; step <= 500; step += 100) {
      curve.push_back({{"step", step},
                       {"seconds", step * 0.01 * (1 + seed * 0.1)},
                       {"loss", 1.0 / step},
                       {"metric", step == 200 ? json() : json(step / 600.0)}});
    }
    runs.push_back({{"seed", seed}, {"curve", curve}});
    values.push_back(0.9 - 0.1 * index + 0.01 * seed);
  }
  const std::string name = index == 0 ? "additive" : index == 1 ? "dot" : "scaled";
  return {{"name", "score=" + name},
          {"options", {{"score", name}}},
          {"best", index == 0},
          {"verdict", index == 0   ? "best"
                      : index == 1 ? "worse"
                                   : "tie"},
          {"p_value", index == 0 ? json() : json(index == 1 ? 0.012 : 0.4)},
          {"metrics",
           {{"exact_match",
             {{"mean", 0.9 - 0.1 * index},
              {"spread", seeds > 1 ? json(0.01) : json()},
              {"values", values}}}}},
          {"parameters", 12345},
          {"step_ms", nullptr},
          {"runs", runs}};
}

json comparison_of(int choices, int seeds, int tokens) {
  json all{{"title", "Scores"},
           {"task", "translate"},
           {"data", "builtin:dates"},
           {"command", "fovea compare translate"},
           {"metric", {{"name", "exact_match"}, {"higher_is_better", true}}},
           {"metrics", {"exact_match", "alignment"}},
           {"choices", json::array()},
           {"examples", json::array()}};
  json views = json::array();
  for (int i = 0; i < choices; ++i) {
    all["choices"].push_back(choice_of(i, seeds));
    views.push_back({{"choice", i}, {"output", "out"}, {"maps", {map_of(tokens, tokens)}}});
  }
  for (int seed = 0; seed < seeds; ++seed) all["seeds"].push_back(seed);
  all["examples"].push_back({{"input", "in"}, {"truth", "out"}, {"choices", views}});
  return all;
}

TEST(ComparisonPage, ShowsEveryChoice) {
  NEED_CHROMIUM();
  json comparison = comparison_of(3, 3, 6);
  comparison["choices"][2]["failed"] = "seed 1 failed: the loss is not a number";
  const std::string dom = rendered(comparison_page(comparison));
  expect_drawn(dom);
  EXPECT_EQ(count(dom, "<tr style=\"--mine"), 3u);
  EXPECT_EQ(count(dom, "class=\"line\""), 6u);  // a metric and a loss each
  EXPECT_EQ(count(dom, "class=\"band\""), 6u);
  EXPECT_EQ(count(dom, "class=\"heat-body\""), 3u);
  EXPECT_EQ(count(dom, "data-row=\""), 18u);
  EXPECT_NE(dom.find("score=additive</mark> wins with 90.0\u202f% exact match, 10.0 points ahead "
                     "of score=dot: beyond "
                     "chance (p = 0.012)."),
            dom.npos)
      << dom;
  EXPECT_NE(dom.find("may be chance"), dom.npos);
  EXPECT_NE(dom.find("the loss is not a number"), dom.npos);
  EXPECT_EQ(count(dom, ">✓ right<"), 3u);
  EXPECT_NE(dom.find("aria-sort=\"descending\""), dom.npos);
  EXPECT_EQ(dom.find("Step, ms"), dom.npos) << "a column that nobody filled should be left out";
}

// A line a choice for each metric that was measured at two lengths at least.
TEST(ComparisonPage, DrawsAMetricByTheLengthOfProblems) {
  NEED_CHROMIUM();
  json comparison = comparison_of(2, 1, 4);
  const auto lines_with = [&](const char* task, const std::vector<std::string>& metrics) {
    comparison["task"] = task;
    for (const std::string& name : metrics) {
      comparison["metrics"].push_back(name);
      for (json& choice : comparison["choices"]) {
        choice["metrics"][name] = {{"mean", 0.25}, {"spread", nullptr}, {"values", {0.25}}};
      }
    }
    const std::string dom = rendered(comparison_page(comparison));
    expect_drawn(dom);
    return count(dom, "class=\"line\"");
  };
  const auto before = lines_with("algorithm", {});
  EXPECT_EQ(lines_with("algorithm", {"wrong_bits@10", "sequences@10"}), before);
  EXPECT_EQ(lines_with("algorithm", {"wrong_bits@120", "wrong_bits@20"}), before + 2);
  EXPECT_EQ(lines_with("qa", {}), before) << "there it is a task's number";
}

TEST(ComparisonPage, SaysWhenALeadMayBeChanceOrUnknown) {
  NEED_CHROMIUM();
  json comparison = comparison_of(2, 2, 3);
  comparison["choices"][1]["p_value"] = nullptr;
  comparison["choices"][1]["verdict"] = "unknown";
  const std::string unknown = rendered(comparison_page(comparison));
  expect_drawn(unknown);
  EXPECT_NE(unknown.find("10.0 points ahead of score=dot; whether by chance is not known."),
            unknown.npos)
      << unknown;
  comparison["metric"]["higher_is_better"] = false;
  comparison["choices"][0]["best"] = false;
  comparison["choices"][1]["best"] = true;
  comparison["choices"][0]["p_value"] = 0.31;
  comparison["choices"][0]["verdict"] = "tie";
  const std::string dom = rendered(comparison_page(comparison));
  expect_drawn(dom);
  EXPECT_NE(dom.find("score=dot</mark> leads with 80.0\u202f% exact match, 10.0 points below "
                     "score=additive, but that "
                     "may be chance (p = 0.31)."),
            dom.npos)
      << dom;
}

TEST(ComparisonPage, SaysWhenSeedsAreTooFew) {
  NEED_CHROMIUM();
  json comparison = comparison_of(2, 2, 3);
  comparison["choices"][1]["verdict"] = "too_few_seeds";
  const std::string two = rendered(comparison_page(comparison));
  expect_drawn(two);
  EXPECT_NE(two.find("ahead of score=dot, but there are too few seeds to tell."), two.npos) << two;
  EXPECT_NE(two.find(" ± 1.0"), two.npos);
  comparison = comparison_of(2, 1, 3);
  comparison["choices"][1]["verdict"] = "one_seed_differs";
  comparison["choices"][1]["p_value"] = nullptr;
  comparison["choices"][1]["example_ms"] = 0.5;
  comparison["choices"][1]["example_ms_95"] = 0.75;
  const std::string one = rendered(comparison_page(comparison));
  expect_drawn(one);
  EXPECT_NE(one.find("beyond chance on these examples, but on one seed only."), one.npos) << one;
  EXPECT_NE(one.find("on this one seed"), one.npos);
  EXPECT_EQ(one.find("±"), one.npos) << "one seed has no spread";
  EXPECT_NE(one.find("0.50<"), one.npos);
  EXPECT_NE(one.find(" ≤ 0.75"), one.npos);
}

TEST(ComparisonPage, WorksWithNothingToShow) {
  NEED_CHROMIUM();
  const std::string dom = rendered(comparison_page({{"choices", json::array()}}));
  expect_drawn(dom);
  EXPECT_NE(dom.find("There is nothing to compare yet."), dom.npos) << dom;
  EXPECT_EQ(dom.find("<table"), dom.npos);
}

TEST(ComparisonPage, WorksWhereEverythingIsMissing) {
  NEED_CHROMIUM();
  json comparison =
      json::parse(R"({"title": null, "choices": [{}, {"name": "b", "failed": "it broke",
    "metrics": {"m": {"mean": null}}, "runs": [{"seed": 0, "curve": []}]}],
    "examples": [{"choices": [{"choice": 0, "output": null, "maps": []}, {"choice": 9}]}]})");
  const std::string dom = rendered(comparison_page(comparison));
  expect_drawn(dom);
  EXPECT_EQ(count(dom, "<tr style=\"--mine"), 2u);
  EXPECT_NE(dom.find("No choice has finished."), dom.npos) << dom;
  EXPECT_NE(dom.find("it broke"), dom.npos);
}

TEST(ComparisonPage, WorksWithOneRun) {
  NEED_CHROMIUM();
  const std::string dom = rendered(comparison_page(comparison_of(1, 1, 5)));
  expect_drawn(dom);
  EXPECT_NE(dom.find("score=additive</mark> reaches 90.0\u202f% exact match."), dom.npos) << dom;
  EXPECT_EQ(count(dom, "<tr style=\"--mine"), 1u);
  EXPECT_EQ(dom.find("Against the best"), dom.npos);
}

TEST(ComparisonPage, HoldsExamplesOf200Tokens) {
  NEED_CHROMIUM();
  const std::string dom = rendered(comparison_page(comparison_of(2, 2, 200)));
  expect_drawn(dom);
  EXPECT_EQ(count(dom, "<canvas"), 2u);
  EXPECT_GT(count(dom, "data-row=\""), 40u);  // labels thin out, they do not vanish
  EXPECT_LT(count(dom, "data-row=\""), 400u);
  EXPECT_EQ(count(dom, "title=\"k"), 400u);  // the words below each map
}

const std::string hostile = "</script><script>document.title='caught'</script><!-- {{data}} & \"'";

TEST(ComparisonPage, KeepsDataData) {
  json comparison = comparison_of(2, 1, 3);
  comparison["title"] = hostile;
  comparison["choices"][0]["options"]["score"] = hostile;
  comparison["choices"][1]["failed"] = hostile;
  comparison["examples"][0]["input"] = hostile;
  comparison["examples"][0]["choices"][0]["maps"][0]["keys"][0] = hostile;
  comparison["command"] = hostile + "\xff";
  const std::string page = comparison_page(comparison);
  EXPECT_EQ(count(page, "</script"), 2u);
  EXPECT_EQ(count(page, "<!--"), 0u);
  EXPECT_EQ(count(page, "src="), 0u) << "the page must need no other file";
  EXPECT_NE(page.find("\\u003c/script>"), page.npos);
  NEED_CHROMIUM();
  const std::string dom = rendered(page);
  expect_drawn(dom);
  EXPECT_EQ(dom.find("<title>caught"), dom.npos);
  EXPECT_EQ(count(dom, "<script"), 0u) << "text became an element";
  EXPECT_NE(dom.find("&lt;/script&gt;&lt;script&gt;"), dom.npos);
}

TEST(HeatMapPage, DrawsTheChosenMapAndKeepsDataData) {
  AttentionMap map{hostile, {"a", "b"}, {hostile, " ", "z"}, {0, 1, .5f, .2f, .3f, 0}};
  AttentionMap words{"pool", {"x"}, {"some", "words"}, {.1f, .9f}};
  const std::string page = draw_html({hostile, {map, words}});
  EXPECT_EQ(count(page, "</script"), 2u);
  NEED_CHROMIUM();
  const std::string dom = rendered(page);
  expect_drawn(dom);
  EXPECT_EQ(count(dom, "<option"), 2u);
  EXPECT_EQ(count(dom, "data-row=\""), 2u);
  EXPECT_EQ(count(dom, "data-column=\""), 3u);
  expect_drawn(rendered(draw_html({"", {words}})));
  expect_drawn(rendered(draw_html({})));
}

}  // namespace
}  // namespace fovea::test
