// BLEU-n and CIDEr-D of captions against an independent count (tools/make_caption_golden.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/train/caption_metrics.h"
#include "support/paths.h"

namespace fovea::test {
namespace {

TEST(CaptionMetrics, EqualAnIndependentCount) {
  std::ifstream file(golden_path("captions.json"));
  const auto golden = nlohmann::json::parse(file);
  std::vector<std::vector<std::vector<std::string>>> references;
  for (const auto& list : golden["references"]) {
    auto& words = references.emplace_back();
    for (const auto& one : list) words.push_back(caption_words(one.get<std::string>()));
  }
  const CiderD cider(references);
  Tally sum;
  for (size_t i = 0; i < references.size(); ++i) {
    const auto words = caption_words(golden["candidates"][i].get<std::string>());
    add_to(sum, caption_bleu_tally(words, references[i]));
    EXPECT_NEAR(cider.score(words, references[i]), golden["cider_d"][i].get<double>(), 1e-9) << i;
  }
  const char* names[] = {"bleu_1", "bleu_2", "bleu_3", "bleu_4"};
  for (size_t n = 0; n < 4; ++n) {
    EXPECT_NEAR(find_metric(names[n]).of(sum), golden["bleu"][n].get<double>(), 1e-9) << n;
  }
}

TEST(CaptionMetrics, WordsAreComparedWithoutCaseAndMarks) {
  const std::vector<std::string> expected{"a", "dog", "runs"};
  EXPECT_EQ(caption_words("A dog, runs ."), expected);
  EXPECT_TRUE(caption_words(" , . ").empty());
}

TEST(CaptionMetrics, NothingSaidIsNothingWorth) {
  const std::vector<std::vector<std::string>> refs{{"a", "dog"}};
  const CiderD cider(std::vector{refs, {{"a", "cat"}}});
  EXPECT_EQ(cider.score({}, refs), 0);
  EXPECT_EQ(caption_bleu_of<1>(caption_bleu_tally({}, refs)), 0);
  EXPECT_GT(cider.score({"a", "dog"}, refs), 0);
}

}  // namespace
}  // namespace fovea::test
