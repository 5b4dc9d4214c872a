#include "fovea/data/batches.h"

#include <gtest/gtest.h>

#include <numeric>

#include "fovea/base/utf8.h"
#include "fovea/data/builtin.h"
#include "fovea/data/examples.h"
#include "fovea/data/split.h"
#include "support/scratch.h"

namespace fovea {
namespace {

using test::error_of;
using test::shared_data;
using Batches = std::vector<std::vector<int64_t>>;

// Lengths like those of sentences and their translations.
std::vector<Lengths> sentence_lengths(int64_t n) {
  Random random(5);
  std::vector<Lengths> lengths;
  for (int64_t i = 0; i < n; ++i) {
    const double source = std::exp(2.5 + 0.35 * random.normal());
    const double target = source * std::exp(0.15 * random.normal());
    lengths.push_back(
        {std::max<int64_t>(1, std::llround(source)), std::max<int64_t>(1, std::llround(target))});
  }
  return lengths;
}

void expect_each_once(const Batches& batches, int64_t n) {
  std::vector<int64_t> all, expected(n);
  for (const auto& batch : batches) {
    EXPECT_FALSE(batch.empty());
    all.insert(all.end(), batch.begin(), batch.end());
  }
  std::sort(all.begin(), all.end());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

TEST(Batches, HoldEveryExampleOnceAndLittlePadding) {
  const auto lengths = sentence_lengths(20'000);
  const auto batches = batches_by_length(lengths, {.examples = 64}, Random(1));
  expect_each_once(batches, 20'000);
  for (const auto& batch : batches) EXPECT_LE(batch.size(), 64u);
  EXPECT_EQ(batches.size(), 313u);
  EXPECT_LT(padding_of(lengths, batches), 0.10);
}

TEST(Batches, KeepToALimitOfTokens) {
  auto lengths = sentence_lengths(5'000);
  lengths[17] = {900, 900};
  const auto batches = batches_by_length(lengths, {.examples = 500, .tokens = 1'000}, Random(1));
  expect_each_once(batches, 5'000);
  for (const auto& batch : batches) {
    Lengths most{0, 0};
    for (const int64_t i : batch) {
      most = {std::max(most.source, lengths[i].source), std::max(most.target, lengths[i].target)};
    }
    const auto count = static_cast<int64_t>(batch.size());
    EXPECT_TRUE(count * (most.source + most.target) <= 1'000 || count == 1);
  }
  EXPECT_LT(padding_of(lengths, batches), 0.10);
}

TEST(Batches, FollowTheStreamAlone) {
  const auto lengths = sentence_lengths(3'000);
  const auto make = [&](uint64_t epoch) {
    return batches_by_length(lengths, {}, Random(1).fork(epoch));
  };
  EXPECT_EQ(make(1), make(1));
  EXPECT_NE(make(1), make(2));
  // Not only the order of the batches is new in another epoch, but also who is with whom, even
  // where no two lengths are equal.
  std::vector<Lengths> distinct;
  for (int64_t i = 1; i <= 200; ++i) distinct.push_back({i, 1});
  Batches one = batches_by_length(distinct, {}, Random(1)),
          two = batches_by_length(distinct, {}, Random(2));
  for (Batches* batches : {&one, &two}) {
    for (auto& batch : *batches) std::sort(batch.begin(), batch.end());
    std::sort(batches->begin(), batches->end());
  }
  EXPECT_NE(one, two);
  // Long and short ones come in no order.
  const Batches batches = make(1);
  int64_t rising = 0;
  for (size_t i = 1; i < batches.size(); ++i) {
    rising += lengths[batches[i][0]].target > lengths[batches[i - 1][0]].target;
  }
  EXPECT_GT(rising, 8);
  EXPECT_LT(rising, 39);
}

TEST(Batches, MayBeOneOrNone) {
  EXPECT_TRUE(batches_by_length({}, {}, Random(1)).empty());
  EXPECT_EQ(padding_of({}, {}), 0);
  const std::vector<Lengths> two{{3}, {1}};
  const auto batches = batches_by_length(two, {}, Random(1));
  EXPECT_EQ(batches.size(), 1u);
  EXPECT_DOUBLE_EQ(padding_of(two, batches), 1.0 / 3);
  EXPECT_NE(error_of([&] { batches_by_length(two, {.examples = 0}, Random(1)); }), "");
}

TEST(Batches, PadLittleOfTheDataSets) {
  const auto count = [](const std::string& text) {
    return static_cast<int64_t>(split_at_spaces(text).size());
  };
  std::vector<Lengths> dates;
  for (const Pair& pair : generate_dates(10'000, Random(1))) {
    dates.push_back({std::ssize(pair.source), std::ssize(pair.target)});
  }
  EXPECT_LT(padding_of(dates, batches_by_length(dates, {}, Random(1))), 0.02);
  const std::string de = shared_data("multi30k/tok/train.lc.norm.tok.de.gz"),
                    en = shared_data("multi30k/tok/train.lc.norm.tok.en.gz");
  if (de.empty()) GTEST_SKIP() << "needs the data set multi30k for the rest";
  std::vector<Lengths> sentences;
  for (const Pair& pair : read_pairs(de + "," + en)) {
    sentences.push_back({count(pair.source), count(pair.target)});
  }
  EXPECT_LT(padding_of(sentences, batches_by_length(sentences, {}, Random(1))), 0.05);
}

TEST(Split, TakesAPartAndLeavesTheRestInOrder) {
  std::vector<int> from;
  for (int i = 0; i < 100; ++i) from.push_back(i);
  std::vector<int> again = from, other = from;
  const auto taken = take_part(from, 0.2, "dev");
  EXPECT_EQ(taken.size(), 20u);
  EXPECT_EQ(from.size(), 80u);
  EXPECT_TRUE(std::ranges::is_sorted(taken) && std::ranges::is_sorted(from));
  std::vector<int> all = taken;
  all.insert(all.end(), from.begin(), from.end());
  std::ranges::sort(all);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(all[i], i);
  EXPECT_EQ(take_part(again, 0.2, "dev"), taken);
  EXPECT_NE(take_part(other, 0.2, "test"), taken);
}

TEST(Split, LeavesAtLeastOneOnBothSides) {
  std::vector<int> two{1, 2}, three{1, 2, 3}, one{1};
  EXPECT_EQ(take_part(two, 0.01, "dev").size(), 1u);
  EXPECT_EQ(take_part(three, 0.99, "dev").size(), 2u);
  EXPECT_NE(error_of([&] { take_part(one, 0.5, "dev"); }), "");
  EXPECT_NE(error_of([&] { take_part(three, 1, "dev"); }), "");
}

}  // namespace
}  // namespace fovea
