// BLEU against sacreBLEU's numbers (tools/make_sacrebleu_golden.py made them), and the metrics of
// texts by characters.
#include "fovea/train/bleu.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/train/text_metrics.h"
#include "support/paths.h"

namespace fovea::test {
namespace {

nlohmann::json golden_cases() {
  return nlohmann::json::parse(std::ifstream(golden_path("bleu.json")));
}

TEST(Bleu, AgreesWithSacreBleu) {
  const nlohmann::json cases = golden_cases();
  ASSERT_GT(cases.size(), 0u);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.at("name"));
    const BleuOptions options{.tokenize = c.at("tokenize"), .lowercase = c.at("lowercase")};
    Tally sum;
    for (size_t i = 0; i < c.at("hypotheses").size(); ++i) {
      add_to(sum, bleu_tally(c["hypotheses"][i].get<std::string>(),
                             c["references"][i].get<std::string>(), options));
    }
    EXPECT_NEAR(bleu_of(sum), c.at("bleu"), 1e-9) << options.tokenize << options.lowercase;
  }
}

TEST(Bleu, TokenizesAsMtevalDoes) {
  for (const auto& c : golden_cases()) {
    size_t i = 0;
    for (const char* side : {"hypotheses", "references"}) {
      for (const auto& line : c.at(side)) {
        EXPECT_EQ(tokenize_13a(line.get<std::string>()), c.at("tokens")[i++]);
      }
    }
  }
}

TEST(Bleu, AnUnknownTokenizerIsRefused) {
  EXPECT_THROW(bleu_tally("a", "a", {.tokenize = "12a"}), Error);
}

TEST(TextMetrics, EditsAreCountedByCodePoint) {
  EXPECT_EQ(cer_tally("kitten", "sitting"), (Tally{3, 7}));
  EXPECT_EQ(cer_tally("Zürich", "Zurich"), (Tally{1, 6}));
  EXPECT_EQ(cer_tally("", "日本語"), (Tally{3, 3}));
  EXPECT_EQ(cer_tally("日本語", ""), (Tally{3, 0}));
  EXPECT_EQ(cer_tally("abcdef", "badcfe"), (Tally{4, 6}));  // a swap is two edits or more
  EXPECT_EQ(cer_tally("2024-01-05", "2024-01-05"), (Tally{0, 10}));
  EXPECT_EQ(edit_distance(U"intention", U"execution"), 5);
}

TEST(TextMetrics, ExactMatch) {
  Tally sum;
  add_to(sum, exact_match_tally("a", "a"));
  add_to(sum, exact_match_tally("a ", "a"));
  EXPECT_EQ(find_metric("exact_match").of(sum), 0.5);
}

TEST(Metrics, AreFoundByName) {
  EXPECT_NEAR(find_metric("cer").of({3, 12}), 0.25, 1e-15);
  EXPECT_NEAR(find_metric("perplexity").of({20, 10}), std::exp(2.0), 1e-12);
  EXPECT_NEAR(find_metric("loss").of({20, 10}), 2, 1e-15);
  Tally sum;
  add_to(sum, rmse_tally(1, 4));
  add_to(sum, rmse_tally(2, -2));
  EXPECT_NEAR(find_metric("rmse").of(sum), std::sqrt(12.5), 1e-12);
  const Metric metric = find_metric("rmse").measure(sum);
  EXPECT_EQ(metric.name, "rmse");
  EXPECT_FALSE(metric.higher_is_better);
  EXPECT_EQ(metric.value, std::sqrt(12.5));
  for (const MetricKind& kind : metrics()) {
    EXPECT_EQ(&find_metric(kind.name), &kind);
    EXPECT_FALSE(kind.help.empty()) << kind.name;
  }
  try {
    find_metric("blue");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown metric 'blue'; did you mean 'bleu'?");
  }
}

TEST(Metrics, TalliesOfAnotherLengthAreRefused) {
  Tally sum = {1, 2};
  EXPECT_THROW(add_to(sum, {1}), Error);
  EXPECT_THROW(bleu_of({1, 2}), Error);
}

}  // namespace
}  // namespace fovea::test
