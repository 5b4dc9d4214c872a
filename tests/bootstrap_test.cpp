// The paired bootstrap: chance is told from difference, with the same bits for any number of
// threads.
#include "fovea/train/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/parallel.h"

namespace fovea::test {
namespace {

// n examples that are right with the given chance.
std::vector<Tally> system_of(int64_t n, double chance, uint64_t seed) {
  Random random(seed);
  std::vector<Tally> tallies;
  for (int64_t i = 0; i < n; ++i) tallies.push_back({random.uniform() < chance ? 1.0 : 0.0, 1});
  return tallies;
}

TEST(Bootstrap, TellsDifferenceFromChance) {
  const auto a = system_of(1000, 0.7, 1), b = system_of(1000, 0.6, 2);
  EXPECT_LT(paired_bootstrap(a, b, ratio_of, Random(3)), 0.01);
  EXPECT_LT(paired_bootstrap(b, a, ratio_of, Random(3)), 0.01);
  EXPECT_EQ(paired_bootstrap(a, a, ratio_of, Random(3)), 1);
  // The least there is to find with this many samples.
  const auto best = system_of(1000, 1, 4), worst = system_of(1000, 0, 5);
  EXPECT_EQ(paired_bootstrap(best, worst, ratio_of, Random(3), 99), 0.01);
}

TEST(Bootstrap, GivesTheNormalTestsAnswer) {
  // For a mean of independent differences the p-value is that of the normal test.
  const auto a = system_of(2000, 0.52, 13), b = system_of(2000, 0.50, 14);
  double sum = 0, squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = a[i][0] - b[i][0];
    sum += d;
    squares += d * d;
  }
  const double n = 2000, mean = sum / n, deviation = std::sqrt((squares / n - mean * mean) / n);
  const double p = std::erfc(std::abs(mean) / deviation / std::sqrt(2));
  ASSERT_GT(p, 0.02);
  ASSERT_LT(p, 0.98);
  EXPECT_NEAR(paired_bootstrap(a, b, ratio_of, Random(3), 10'000), p, 0.02);
}

TEST(Bootstrap, IsRightlyUnsureWithoutADifference) {
  // Of pairs that differ by chance alone, about one in ten has a p-value below 0.1.
  int below = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    const auto a = system_of(200, 0.6, 1000 + 2 * i), b = system_of(200, 0.6, 1001 + 2 * i);
    below += paired_bootstrap(a, b, ratio_of, Random(i), 200) < 0.1;
  }
  EXPECT_GE(below, 8);
  EXPECT_LE(below, 36);
}

TEST(Bootstrap, DrawsBothSystemsTogether) {
  // b is a with one example in fifty lost: only a paired test sees that it is worse.
  const auto a = system_of(1000, 0.5, 6);
  auto b = a;
  for (size_t i = 0; i < b.size(); i += 50) b[i][0] = 0;
  EXPECT_LT(paired_bootstrap(a, b, ratio_of, Random(3)), 0.05);
}

TEST(Bootstrap, GivesTheSameBitsForAnyNumberOfThreads) {
  const auto a = system_of(300, 0.62, 7), b = system_of(300, 0.6, 8);
  set_threads(1);
  const double one = paired_bootstrap(a, b, ratio_of, Random(9));
  for (const int count : {2, 4}) {
    set_threads(count);
    EXPECT_EQ(paired_bootstrap(a, b, ratio_of, Random(9)), one);
  }
  set_threads(2);
}

TEST(Bootstrap, RefusesSystemsThatDoNotPair) {
  const auto a = system_of(3, 0.5, 1), b = system_of(4, 0.5, 1);
  EXPECT_THROW(paired_bootstrap(a, b, ratio_of, Random(1)), Error);
  EXPECT_THROW(paired_bootstrap({}, {}, ratio_of, Random(1)), Error);
  EXPECT_THROW(paired_bootstrap(a, a, ratio_of, Random(1), 0), Error);
  const std::vector<Tally> c = {{1}, {1}, {1}};
  EXPECT_THROW(paired_bootstrap(a, c, ratio_of, Random(1)), Error);
}

}  // namespace
}  // namespace fovea::test
