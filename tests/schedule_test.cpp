// Schedules of the learning rate: their formulas, warm-up, and what survives a restart.
#include "fovea/train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/base/error.h"

namespace fovea::test {
namespace {

TEST(Schedule, WarmsUpLinearlyWhateverFollows) {
  for (const std::string name :
       {"constant", "inverse_sqrt", "cosine", "linear", "step", "plateau"}) {
    const Schedule schedule({.schedule = name, .warmup = 10, .decay_every = 100});
    for (int step = 1; step <= 10; ++step) {
      EXPECT_NEAR(schedule.factor(step, 0), step / 10.0, 1e-15) << name;
    }
  }
  EXPECT_EQ(Schedule(ScheduleOptions{}).factor(1, 0.5), 1);
}

TEST(Schedule, InverseSquareRootIsThatOfTheTransformerPaper) {
  const double d = 512, warmup = 4000, base = 1 / std::sqrt(d * warmup);
  const Schedule schedule({.schedule = "inverse_sqrt", .warmup = 4000});
  for (const int64_t step : {1, 10, 3999, 4000, 4001, 100'000}) {
    const double s = static_cast<double>(step);
    const double rate = std::pow(d, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(warmup, -1.5));
    EXPECT_NEAR(base * schedule.factor(step, 0.1) / rate, 1, 1e-12) << step;
  }
}

TEST(Schedule, CosineAndLinearFollowTheBudget) {
  const Schedule cosine({.schedule = "cosine", .floor = 0.1});
  const Schedule linear({.schedule = "linear", .floor = 0.1});
  for (const auto& [progress, wave, line] : {std::tuple(0.0, 1.0, 1.0),
                                             {0.25, 0.55 + 0.45 * std::sqrt(0.5), 0.775},
                                             {0.5, 0.55, 0.55},
                                             {1.0, 0.1, 0.1},
                                             {1.5, 0.1, 0.1}}) {
    EXPECT_NEAR(cosine.factor(7, progress), wave, 1e-12);
    EXPECT_NEAR(linear.factor(7, progress), line, 1e-12);
  }
}

TEST(Schedule, StepFallsAfterEverySoMany) {
  const Schedule held({.schedule = "step", .decay = 0.1, .decay_every = 5, .hold = 7});
  EXPECT_DOUBLE_EQ(held.factor(12, 0), 1);
  EXPECT_DOUBLE_EQ(held.factor(13, 0), 0.1);
  const Schedule schedule({.schedule = "step", .decay = 0.1, .decay_every = 5, .floor = 0.005});
  for (const auto& [step, factor] :
       {std::pair(1, 1.0), {5, 1.0}, {6, 0.1}, {10, 0.1}, {11, 0.01}, {16, 0.005}, {1000, 0.005}}) {
    EXPECT_NEAR(schedule.factor(step, 0), factor, 1e-15) << step;
  }
}

TEST(Schedule, PlateauFallsWhenNothingImproves) {
  const ScheduleOptions options{.schedule = "plateau", .decay = 0.5, .patience = 1, .floor = 0.2};
  Schedule schedule(options);
  // Each validation, and the factor after it. A loss that is no number counts as no better.
  const std::pair<double, double> seen[] = {{NAN, 1},   {-3, 1},    {-2, 1},   {-2, 1},
                                            {-5, 0.5},  {-4, 0.5},  {-1, 0.5}, {-2, 0.5},
                                            {-2, 0.25}, {-2, 0.25}, {-2, 0.2}};
  for (const auto& [metric, factor] : seen) {
    schedule.validated(metric);
    EXPECT_EQ(schedule.factor(3, 0), factor) << metric;
    for (const double x : schedule.state()) EXPECT_TRUE(std::isfinite(x));
    Schedule resumed(options);  // after every validation, as if killed there
    resumed.restore(schedule.state());
    schedule = resumed;
  }
  EXPECT_THROW(schedule.restore(std::vector<double>{1, 2}), Error);
}

TEST(Schedule, WrongOptionsAreRefused) {
  const auto error = [](const ScheduleOptions& options) -> std::string {
    try {
      Schedule schedule(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error({.schedule = "cosin"}), "unknown schedule 'cosin'; did you mean 'cosine'?");
  EXPECT_EQ(error({.schedule = "inverse_sqrt"}),
            "inverse_sqrt: needs a warm-up of at least 1 step, got 0");
  EXPECT_EQ(error({.schedule = "step"}), "step: decay_every must be at least 1 step, got 0");
  EXPECT_EQ(error({.warmup = -1}), "constant: the warm-up cannot be negative, got -1 steps");
  EXPECT_EQ(error({.decay = 0}), "constant: the decay must be in (0, 1], got 0");
  EXPECT_THROW(Schedule({}).factor(0, 0), Error);
}

}  // namespace
}  // namespace fovea::test
