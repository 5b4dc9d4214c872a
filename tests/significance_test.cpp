// Which differences are called real: by simulation of choices that are equal, and of one that is
// not, with the spread of real runs.
#include "fovea/train/significance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/random.h"
#include "fovea/train/studentized_range.h"

namespace fovea::test {
namespace {

TEST(StudentizedRange, GivesTheTablesValues) {
  // Upper 5 % points of published tables (for example NIST's).
  const double infinite = 1e9;
  for (const auto& [groups, degrees, q] :
       std::vector<std::tuple<int, double, double>>{{2, 1, 17.97},
                                                    {2, 2, 6.085},
                                                    {3, 10, 3.877},
                                                    {5, 5, 5.673},
                                                    {10, 20, 5.008},
                                                    {10, 40, 4.735},
                                                    {5, infinite, 3.858}}) {
    EXPECT_NEAR(studentized_range_tail(q, groups, degrees), 0.05, 2e-4) << groups << " " << degrees;
  }
  // Two groups: the two-sided t test, here with the closed form for one and two degrees.
  for (const double t : {0.3, 1.0, 4.0, 60.0}) {
    EXPECT_NEAR(studentized_range_tail(t * std::sqrt(2), 2, 1), 1 - 2 * std::atan(t) / M_PI, 1e-6);
    EXPECT_NEAR(studentized_range_tail(t * std::sqrt(2), 2, 2), 1 - t / std::sqrt(2 + t * t), 1e-6);
  }
  EXPECT_EQ(studentized_range_tail(0, 3, 5), 1);
  EXPECT_THROW(studentized_range_tail(1, 1, 5), Error);
}

// What contributes to a value, in units of its spread over seeds. Measured on SST-2 (1,821 test
// sentences, three choices, eight seeds; docs/comparing.md).
struct World {
  double resid = 0.52;       // of the spread: what seeds do to single examples
  double interaction = 0.1;  // examples that suit one choice better than another
  double shared = 0;         // correlation between choices of one seed
  double noisy = 1;          // spread of the first choice over the others'
};

// `shift` is added to the last choice.
std::vector<MeasuredChoice> table_of(int choices, int seeds, const World& world, double shift,
                                     Random random) {
  constexpr int examples = 12;  // of a variance that makes up for their small number
  const double root = std::sqrt(examples);
  const double own = std::sqrt(1 - world.resid * world.resid);
  std::vector<double> of_seed(seeds);
  for (double& x : of_seed) x = random.normal();
  std::vector<MeasuredChoice> all(choices);
  for (int k = 0; k < choices; ++k) {
    MeasuredChoice& choice = all[k];
    choice.influences.resize(examples);
    choice.values.assign(seeds, k == choices - 1 ? shift : 0);
    for (double& influence : choice.influences) {
      influence = random.normal() * world.interaction * root;
      for (double& value : choice.values) value += influence / examples;
      double mean = 0;
      for (double& value : choice.values) {
        const double x = random.normal() * world.resid * root;
        value += x / examples, mean += x / seeds;
      }
      influence += mean;
    }
    for (int s = 0; s < seeds; ++s) {
      choice.values[s] +=
          (k == 0 ? world.noisy : 1) * own *
          (std::sqrt(1 - world.shared) * random.normal() + std::sqrt(world.shared) * of_seed[s]);
    }
  }
  return all;
}

std::vector<Difference> judged(const std::vector<MeasuredChoice>& all) {
  const auto mean = [](const MeasuredChoice& c) {
    double sum = 0;
    for (const double v : c.values) sum += v;
    return sum;
  };
  const auto best = std::ranges::max_element(all, {}, mean) - all.begin();
  return differences_to_best(all, static_cast<size_t>(best), true);
}

bool any_worse(const std::vector<Difference>& all) {
  return std::ranges::count(all, Verdict::worse, &Difference::verdict) > 0;
}

constexpr int tables = 1000;

// Tables in which some choice is called worse, of `tables` in which all are equal.
int wrongly_told(int choices, int seeds, const World& world) {
  int count = 0;
  const Random random = Random(11).fork(static_cast<uint64_t>(100 * choices + seeds));
  for (uint64_t i = 0; i < tables; ++i) {
    count += any_worse(judged(table_of(choices, seeds, world, 0, random.fork(i))));
  }
  return count;
}

// Tables in which the last choice is called worse, where it is, by three spreads.
int rightly_told(int choices, int seeds, const World& world) {
  int count = 0;
  const Random random = Random(12).fork(static_cast<uint64_t>(100 * choices + seeds));
  for (uint64_t i = 0; i < tables; ++i) {
    const auto all = judged(table_of(choices, seeds, world, -3, random.fork(i)));
    count += all.back().verdict == Verdict::worse;
  }
  return count;
}

// Also prints the table of docs/comparing.md.
TEST(Significance, TellsEqualChoicesApartInAtMostSixOfAHundredTables) {
  const World plain, paired{.shared = 0.68}, uneven{.noisy = 5};
  std::printf(
      "seeds choices  equal: alone, paired, uneven  worse by 3: alone, paired (of 1,000)\n");
  for (const int seeds : {2, 3, 5}) {
    for (const int choices : {2, 5, 10}) {
      std::vector<int> wrong, right;
      for (const World& world : {plain, paired, uneven}) {
        wrong.push_back(wrongly_told(choices, seeds, world));
        EXPECT_LE(wrong.back(), 60) << choices << " choices, " << seeds << " seeds";
      }
      for (const World& world : {plain, paired}) {
        right.push_back(rightly_told(choices, seeds, world));
        EXPECT_GE(right.back(), seeds == 5 ? 800 : 0) << choices << " choices";
      }
      std::printf("%5d %7d %12d %6d %6d %16d %6d\n", seeds, choices, wrong[0], wrong[1], wrong[2],
                  right[0], right[1]);
    }
  }
}

// n examples that are right with the given chance.
std::vector<Tally> system_of(int64_t n, double chance, Random random) {
  std::vector<Tally> tallies;
  for (int64_t i = 0; i < n; ++i) tallies.push_back({random.uniform() < chance ? 1.0 : 0.0, 1});
  return tallies;
}

MeasuredChoice choice_of(const std::vector<double>& chances, uint64_t id, int64_t n = 400) {
  std::vector<std::vector<Tally>> seeds;
  for (size_t s = 0; s < chances.size(); ++s) {
    seeds.push_back(system_of(n, chances[s], Random(5).fork(id).fork(s)));
  }
  return measure_choice(seeds, ratio_of);
}

Verdict verdict_of(const std::vector<MeasuredChoice>& pair) { return judged(pair)[1].verdict; }

TEST(Significance, NeverCallsOneSeedWorse) {
  const auto far = judged({choice_of({0.9}, 1), choice_of({0.2}, 2)});
  EXPECT_EQ(far[0].verdict, Verdict::best);
  EXPECT_EQ(far[1].verdict, Verdict::one_seed_differs);
  EXPECT_FALSE(far[1].p_value);
  EXPECT_EQ(verdict_of({choice_of({0.52}, 3), choice_of({0.50}, 4)}), Verdict::one_seed_alike);
  // Nor does a choice of one seed beside one of several.
  EXPECT_EQ(verdict_of({choice_of({0.9, 0.9, 0.9}, 5), choice_of({0.2}, 6)}),
            Verdict::one_seed_differs);
}

TEST(Significance, SaysWhenTwoSeedsAreTooFew) {
  // Seeds at chance on two classes, as far apart as 0.51 and 0.475, are no difference.
  EXPECT_NE(verdict_of({choice_of({0.5, 0.52}, 1), choice_of({0.46, 0.49}, 2)}), Verdict::worse);
  // Far apart, but two seeds know too little of their own spread.
  const MeasuredChoice good{{0.90, 0.95}, std::vector<double>(100, 0.9)};
  const MeasuredChoice bad{{0.70, 0.69}, std::vector<double>(100, 0.7)};
  EXPECT_EQ(verdict_of({good, bad}), Verdict::too_few_seeds);
  // Seeds that hardly differ, on a gap of half the scale, are enough.
  const MeasuredChoice steady{{0.90, 0.901}, std::vector<double>(100, 0.9)};
  const MeasuredChoice low{{0.40, 0.402}, std::vector<double>(100, 0.4)};
  EXPECT_EQ(verdict_of({steady, low}), Verdict::worse);
}

TEST(Significance, FindsWhatIsThere) {
  const auto told = judged({choice_of({0.80, 0.79, 0.81, 0.80, 0.80}, 1),
                            choice_of({0.80, 0.80, 0.79, 0.80, 0.81}, 2),
                            choice_of({0.60, 0.61, 0.59, 0.60, 0.60}, 3)});
  EXPECT_EQ(told[2].verdict, Verdict::worse);
  EXPECT_LT(told[2].p_value.value(), 0.01);
  EXPECT_NE(told[0].verdict == Verdict::best, told[1].verdict == Verdict::best);
  EXPECT_EQ(std::ranges::count(told, Verdict::tie, &Difference::verdict), 1);
}

TEST(Significance, PairsSeedsAndExamples) {
  // The same five seeds go up and down together: paired, a gap below their spread is seen.
  MeasuredChoice a{{0.70, 0.80, 0.75, 0.90, 0.60}, std::vector<double>(200)}, b = a;
  for (double& value : b.values) value -= 0.02;
  b.values[0] += 0.002;
  EXPECT_EQ(verdict_of({a, b}), Verdict::worse);
  std::swap(b.values[0], b.values[3]);
  EXPECT_NE(verdict_of({a, b}), Verdict::worse);
  // b is a with one example in twenty lost: only paired examples show it.
  const auto right = system_of(1000, 0.5, Random(6));
  auto lost = right;
  for (size_t i = 0; i < lost.size(); i += 20) lost[i][0] = 0;
  const auto whole = measure_choice({&right, 1}, ratio_of),
             less = measure_choice({&lost, 1}, ratio_of);
  EXPECT_EQ(verdict_of({whole, less}), Verdict::one_seed_differs);
}

TEST(Significance, CountsHowManyWereCompared) {
  // A gap that is real between two is no surprise as the largest among ten.
  std::vector<MeasuredChoice> few, many;
  for (int k = 0; k < 10; ++k) {
    MeasuredChoice c{{}, std::vector<double>(100)};
    for (int s = 0; s < 5; ++s) c.values.push_back(0.5 + 0.01 * ((3 * k + 7 * s + k * s) % 5));
    for (double& v : c.values) v -= k == 1 ? 0.03 : 0;
    if (k < 2) few.push_back(c);
    many.push_back(c);
  }
  const double two = differences_to_best(few, 0, true)[1].p_value.value();
  const double ten = differences_to_best(many, 0, true)[1].p_value.value();
  EXPECT_LT(two, ten);
}

TEST(Significance, MeasuresTheJackknifesErrorOfAnyMetric) {
  // Of a mean, an example's influence is its own value.
  const std::vector<Tally> tallies{{1, 1}, {0, 1}, {0, 1}, {1, 1}};
  const MeasuredChoice mean = measure_choice({&tallies, 1}, ratio_of);
  EXPECT_EQ(mean.values, std::vector<double>{0.5});
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(mean.influences[i], tallies[i][0] - 0.5, 1e-12);
  // Lower is better: the sign turns.
  const MeasuredChoice high{{3, 3.1, 3.2}, std::vector<double>(50)},
      low{{1, 1.1, 1.3}, std::vector<double>(50)};
  EXPECT_EQ(differences_to_best(std::vector{high, low}, 1, false)[0].verdict, Verdict::worse);
  EXPECT_EQ(differences_to_best(std::vector{high, low}, 1, true)[0].verdict, Verdict::tie);
}

TEST(Significance, RefusesWhatDoesNotPair) {
  const auto a = system_of(3, 0.5, Random(1)), b = system_of(4, 0.5, Random(1));
  EXPECT_THROW(measure_choice(std::vector{a, b}, ratio_of), Error);
  EXPECT_THROW(measure_choice({}, ratio_of), Error);
  const MeasuredChoice two{{1, 2}, {0, 0}}, three{{1, 2, 3}, {0, 0}}, other{{1, 2}, {0, 0, 0}};
  EXPECT_THROW(differences_to_best(std::vector{two, three}, 1, true), Error);
  EXPECT_EQ(differences_to_best(std::vector{two, other}, 0, true)[1].verdict, Verdict::unknown);
}

}  // namespace
}  // namespace fovea::test
