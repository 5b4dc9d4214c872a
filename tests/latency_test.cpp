// One example alone: which are timed, when it stops, and what is told. The clock is the test's own.
#include "fovea/task/latency.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace fovea::test {
namespace {

TEST(Latency, TimesEachAnswerAfterAWarmUp) {
  std::vector<std::string> inputs;
  for (int i = 1; i <= 100; ++i) inputs.push_back(std::to_string(i));
  inputs.insert(inputs.begin() + 7, {"", " \n"});
  double clock = 0;
  int answered = 0;
  // The first three are slow, as first answers are; then input i takes i ms.
  const auto answer = [&](const std::string& input) {
    clock += ++answered <= 3 ? 0.1 : std::stod(input) * 1e-3;
  };
  const Latency latency = measure_latency(inputs, answer, [&] { return clock; }, {.seconds = 100});
  EXPECT_EQ(answered, 103);
  EXPECT_EQ(latency.examples, 100);
  EXPECT_NEAR(latency.median_ms, 50, 1e-6);
  EXPECT_NEAR(latency.slow_ms, 95, 1e-6);
}

TEST(Latency, TakesASampleFromAllAndStopsInTime) {
  std::vector<std::string> inputs;
  for (int i = 0; i < 1000; ++i) inputs.push_back(std::to_string(i));
  double clock = 0;
  std::set<std::string> asked;
  const auto answer = [&](const std::string& input) { clock += 1e-3, asked.insert(input); };
  const auto now = [&] { return clock; };
  EXPECT_EQ(measure_latency(inputs, answer, now).examples, 200);
  EXPECT_TRUE(asked.contains("0") && asked.contains("500") && asked.contains("995"));
  const auto slow = [&](const std::string&) { clock += 0.5; };
  const Latency few = measure_latency(inputs, slow, now, {.seconds = 3});
  EXPECT_GE(few.examples, 1);
  EXPECT_LE(few.examples, 6);
  const auto slower = [&](const std::string&) { clock += 60; };
  EXPECT_EQ(measure_latency(inputs, slower, now, {.seconds = 3}).examples, 1);
  EXPECT_EQ(measure_latency({}, answer, now).examples, 0);
}

}  // namespace
}  // namespace fovea::test
