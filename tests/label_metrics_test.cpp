// Metrics of labels: accuracy, macro F1, and entities as conlleval and seqeval count them
// (tools/make_entity_golden.py ran them on random tags).
#include "fovea/train/label_metrics.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fovea/base/error.h"
#include "support/paths.h"

namespace fovea::test {
namespace {

using Tags = std::vector<std::string>;

Tags tags(const std::string& line) {
  std::istringstream in(line);
  Tags all;
  for (std::string tag; in >> tag;) all.push_back(tag);
  return all;
}
Tally count(const std::string& truth, const std::string& predicted) {
  return entity_tally(tags(truth), tags(predicted));
}

TEST(Entities, AgreeWithConllevalAndSeqeval) {
  const auto cases = nlohmann::json::parse(std::ifstream(golden_path("entities.json")));
  ASSERT_GT(cases.size(), 0u);
  for (const auto& c : cases) {
    const Tags truth = c.at(0), predicted = c.at(1);
    EXPECT_EQ(entity_tally(truth, predicted), c.at(2).get<Tally>()) << c;
    // BILOU writes L for E and U for S.
    Tags bilou = predicted;
    for (std::string& tag : bilou) tag[0] = tag[0] == 'E' ? 'L' : tag[0] == 'S' ? 'U' : tag[0];
    EXPECT_EQ(entity_tally(truth, bilou), c.at(2).get<Tally>()) << c;
  }
}

TEST(Entities, OfEveryScheme) {
  const std::string iob2 = "B-PER I-PER B-PER O B-LOC I-LOC";
  const std::string iob1 = "I-PER I-PER B-PER O I-LOC I-LOC";
  const std::string iobes = "B-PER E-PER S-PER O B-LOC E-LOC";
  const std::string bilou = "B-PER L-PER U-PER O B-LOC L-LOC";
  for (const std::string& a : {iob2, iob1, iobes, bilou}) {
    for (const std::string& b : {iob2, iob1, iobes, bilou}) {
      EXPECT_EQ(count(a, b), (Tally{3, 3, 3})) << a << " / " << b;
    }
  }
}

TEST(Entities, NeedTheirWholeSpanAndType) {
  EXPECT_EQ(count("B-PER I-PER O", "B-PER O O"), (Tally{0, 1, 1}));
  EXPECT_EQ(count("B-PER I-PER O", "B-PER I-PER I-PER"), (Tally{0, 1, 1}));
  EXPECT_EQ(count("B-PER I-PER O", "B-LOC I-LOC O"), (Tally{0, 1, 1}));
  EXPECT_EQ(count("B-PER I-PER O", "B-PER B-PER O"), (Tally{0, 2, 1}));
  EXPECT_EQ(count("B-PER I-PER", "O I-PER"), (Tally{0, 1, 1}));
  EXPECT_EQ(count("B-A-B I-A-B", "B-A-B I-A-C"), (Tally{0, 2, 1}));  // a type may hold a dash
  EXPECT_EQ(count("", ""), (Tally{0, 0, 0}));
  EXPECT_THROW(count("O O", "O"), Error);
}

TEST(Entities, PrecisionRecallF1) {
  const Tally sum = {3, 4, 6};
  EXPECT_DOUBLE_EQ(entity_precision_of(sum), 0.75);
  EXPECT_DOUBLE_EQ(entity_recall_of(sum), 0.5);
  EXPECT_DOUBLE_EQ(find_metric("entity_f1").of(sum), 0.6);
  EXPECT_EQ(entity_f1_of({0, 0, 0}), 0);
}

TEST(Labels, AccuracyAndMacroF1) {
  // Class 0: 2 right, 1 taken for class 1. Class 1: 1 right. Class 2: taken for class 0. Class 3
  // never comes and does not count.
  Tally sum;
  for (const auto& [truth, predicted] : {std::pair(0, 0), {0, 0}, {0, 1}, {1, 1}, {2, 0}}) {
    add_to(sum, label_tally(4, truth, predicted));
  }
  EXPECT_EQ(sum, (Tally{2, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(find_metric("accuracy").of(sum), 0.6);
  EXPECT_DOUBLE_EQ(find_metric("macro_f1").of(sum), (2.0 / 3 + 2.0 / 3 + 0) / 3);
  EXPECT_THROW(label_tally(2, 0, 2), Error);
  EXPECT_THROW(label_tally(2, -1, 0), Error);
}

TEST(Labels, TokenAccuracy) {
  const std::vector<int32_t> truth = {1, 2, 3}, predicted = {1, 5, 3};
  EXPECT_EQ(token_accuracy_tally(truth, predicted), (Tally{2, 3}));
  EXPECT_EQ(token_accuracy_tally(tags("NOUN VERB"), tags("NOUN NOUN")), (Tally{1, 2}));
  EXPECT_THROW(token_accuracy_tally(tags("NOUN VERB"), tags("NOUN")), Error);
}

}  // namespace
}  // namespace fovea::test
