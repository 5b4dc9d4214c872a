// What models of stories and machines show of how they look: which maps there are, and what their
// rows and columns are called. Nothing has learned: names and sizes are there before.
#include <gtest/gtest.h>

#include <map>

#include "fovea/task/solver.h"

namespace fovea::test {
namespace {

using Names = std::vector<std::string>;

std::unique_ptr<Solver> solver_of(const std::string& task, const std::string& data,
                                  const Settings& more) {
  Settings said{{"data", data}, {"examples", "40"}};
  said.set(more);
  return find_task(task).make(make_config(find_task(task), said), Purpose::learn, "");
}

struct Expected {
  std::string name;
  Names queries, keys;
};
void expect_maps(const Drawing& shown, const std::vector<Expected>& expected) {
  ASSERT_EQ(shown.maps.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const AttentionMap& map = shown.maps[i];
    EXPECT_EQ(map.name, expected[i].name);
    EXPECT_EQ(map.queries, expected[i].queries) << map.name;
    EXPECT_EQ(map.keys, expected[i].keys) << map.name;
    EXPECT_EQ(map.weights.size(), map.queries.size() * map.keys.size()) << map.name;
  }
}

float weight(const AttentionMap& map, size_t row, size_t column) {
  return map.weights.at(row * map.keys.size() + column);
}
void expect_rows_sum_to_one(const AttentionMap& map) {
  for (size_t row = 0; row < map.queries.size(); ++row) {
    float sum = 0;
    for (size_t column = 0; column < map.keys.size(); ++column) {
      EXPECT_GE(weight(map, row, column), 0) << map.name;
      sum += weight(map, row, column);
    }
    EXPECT_NEAR(sum, 1, 1e-5) << map.name << " " << map.queries[row];
  }
}

Names hops(int64_t n) {
  Names names;
  for (int64_t i = 1; i <= n; ++i) names.push_back(say("hop ", i));
  return names;
}

struct StoryTrial {
  Settings settings;
  std::vector<Expected> expected;
};

TEST(LookingTask, StoriesAreShownBySentencesHopsAndSlots) {
  const Names told{"mary went home", "john took the milk"},
      and_nothing{told[0], told[1], "(nothing)"}, slots{"slot 1", "slot 2", "slot 3"};
  const std::vector<StoryTrial> trials{
      {{{"model", "memn2n"}, {"hops", "2"}}, {{"hops", hops(2), and_nothing}}},
      // A memory that is full has nothing empty.
      {{{"model", "memn2n"}, {"hops", "3"}, {"memory", "1"}, {"empty", "false"}},
       {{"hops", hops(3), {told[1]}}}},
      {{{"model", "kv"}, {"hops", "2"}}, {{"hops", hops(2), told}}},
      {{{"model", "memnn"}, {"hops", "3"}}, {{"hops", hops(3), and_nothing}}},
      {{{"model", "memnn"}, {"response", "lstm"}, {"memory", "1"}},
       {{"hops", hops(2), {told[1], "(nothing)"}}}},
      {{{"model", "entnet"}, {"slots", "3"}},
       {{"gates", told, slots}, {"slots", {"where is mary"}, slots}}}};
  for (const StoryTrial& trial : trials) {
    SCOPED_TRACE(trial.settings.get("model"));
    Settings settings = trial.settings;
    settings.set("width", "8");
    const auto solver = solver_of("qa", "builtin:stories", settings);
    const Drawing shown = solver->attend("Mary went home. John took the milk. Where is Mary?");
    EXPECT_TRUE(shown.title.starts_with("where is mary? → ")) << shown.title;
    expect_maps(shown, trial.expected);
    expect_rows_sum_to_one(shown.maps.back());
    // Nothing was told: there is nothing to look at but that.
    const bool slotted = trial.settings.get("model") == "entnet";
    expect_maps(solver->attend("Where is Mary?"),
                {slotted ? trial.expected.back()
                         : Expected{"hops", trial.expected[0].queries, {"(nothing)"}}});
  }
}

// To this model a memory is a set: each sentence keeps its weight wherever it is told.
TEST(LookingTask, ASentencesColumnHoldsItsWeight) {
  const auto solver = solver_of("qa", "builtin:stories", {{"model", "kv"}, {"width", "8"}});
  const std::string mary = "Mary went to the office. ", john = "John took the milk. ",
                    rest = "Sandra left the apple. Where is Mary?";
  std::map<std::string, float> weights;
  const Drawing one = solver->attend(mary + john + rest),
                other = solver->attend(john + mary + rest);
  for (size_t i = 0; i < 3; ++i) weights[one.maps.at(0).keys.at(i)] = weight(one.maps[0], 0, i);
  EXPECT_EQ(weights.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::string& sentence = other.maps.at(0).keys.at(i);
    EXPECT_NEAR(weight(other.maps[0], 0, i), weights.at(sentence), 1e-6) << sentence;
    if (i > 0) {
      EXPECT_GT(std::abs(weight(other.maps[0], 0, i) - weight(other.maps[0], 0, i - 1)), 1e-4);
    }
  }
}

TEST(LookingTask, EntriesOfAKeyValueMemoryAreShownWhole) {
  const auto solver = solver_of("qa", "builtin:stories", {{"model", "kv"}, {"width", "8"}});
  const Drawing shown =
      solver->attend(R"({"question": "who wrote it", "memory": [["it", "written_by", "ann lee"],)"
                     R"( ["it", "year", "1979"]]})");
  expect_maps(shown, {{"hops", hops(2), {"it written_by ann lee", "it year 1979"}}});
}

const Names symbols{"3", "1", "2", "|", "·", "·", "·", "·"};
Drawing reversing(Settings more) {
  more.set("symbols", "4");
  more.set("lengths", "1-3");
  more.set("test_lengths", "2");
  more.set("width", "8");
  return solver_of("algorithm", "builtin:reverse", more)->attend("3 1 2");
}

TEST(LookingTask, ATuringMachineShowsItsHeadsAndContents) {
  const Names slots{"0", "1", "2", "3", "4"};
  const Drawing shown = reversing({{"model", "ntm"}, {"slots", "5"}, {"read_heads", "2"}});
  EXPECT_TRUE(shown.title.starts_with("3 1 2 → ")) << shown.title;
  expect_maps(shown, {{"write", symbols, slots},
                      {"read head 1", symbols, slots},
                      {"read head 2", symbols, slots},
                      {"contents", symbols, slots}});
  for (size_t i = 0; i < 3; ++i) expect_rows_sum_to_one(shown.maps[i]);
  for (float x : shown.maps[3].weights) EXPECT_GT(x, 0);
}

// Of what was pushed at a step there is nothing before, and then less and less.
TEST(LookingTask, StacksShowWhatTheyHoldOfEachStep) {
  for (const char* model : {"stack", "queue", "deque"}) {
    SCOPED_TRACE(model);
    const Drawing shown = reversing({{"model", model}});
    std::vector<Expected> expected{{"held", symbols, symbols}};
    if (std::string(model) == "deque")
      expected = {{"held head 1", symbols, symbols}, {"held head 2", symbols, symbols}};
    expect_maps(shown, expected);
    for (const AttentionMap& map : shown.maps) {
      for (size_t t = 0; t < symbols.size(); ++t) {
        EXPECT_GT(weight(map, t, t), 0);
        for (size_t step = 0; step < t; ++step)
          EXPECT_LE(weight(map, t, step), weight(map, t - 1, step));
        for (size_t step = t + 1; step < symbols.size(); ++step) EXPECT_EQ(weight(map, t, step), 0);
      }
    }
  }
}

// What is pushed comes in at the top, and a part of it goes down a cell in each step.
TEST(LookingTask, AStackOfCellsShowsThemFromTheTop) {
  const Drawing shown =
      reversing({{"model", "stack_rnn"}, {"stacks", "2"}, {"depth", "3"}, {"round", "false"}});
  const Names cells{"0", "1", "2"};
  expect_maps(shown, {{"stack head 1", symbols, cells}, {"stack head 2", symbols, cells}});
  for (const AttentionMap& map : shown.maps) {
    for (size_t step = 0; step < symbols.size(); ++step) {
      for (size_t cell = 0; cell < cells.size(); ++cell) {
        EXPECT_EQ(weight(map, step, cell) > 0, cell <= step) << step << " " << cell;
        if (cell > 0) {
          EXPECT_LE(weight(map, step, cell), weight(map, step, cell - 1)) << step;
        }
      }
    }
  }
}

TEST(LookingTask, ACircuitShowsWhatModulesAndRegistersTake) {
  const Drawing shown = solver_of("algorithm", "builtin:ram-access",
                                  {{"model", "nram"},
                                   {"symbols", "6"},
                                   {"lengths", "5"},
                                   {"test_lengths", "5"},
                                   {"registers", "2"},
                                   {"machine_steps", "2"},
                                   {"width", "8"}})
                            ->attend("1 2 3 4 0");
  const Names keys{"r0",  "r1",  "read", "zero",       "one",   "two", "inc", "add",
                   "sub", "dec", "less", "less_equal", "equal", "min", "max", "write"};
  Names queries;
  for (const char* step : {"1: ", "2: "}) {
    for (const char* row : {"read",
                            "inc",
                            "add",
                            "add, 2nd",
                            "sub",
                            "sub, 2nd",
                            "dec",
                            "less",
                            "less, 2nd",
                            "less_equal",
                            "less_equal, 2nd",
                            "equal",
                            "equal, 2nd",
                            "min",
                            "min, 2nd",
                            "max",
                            "max, 2nd",
                            "write",
                            "write, 2nd",
                            "r0 =",
                            "r1 ="}) {
      queries.push_back(std::string(step) + row);
    }
  }
  expect_maps(shown, {{"circuit", queries, keys}});
  const AttentionMap& map = shown.maps.at(0);
  expect_rows_sum_to_one(map);
  // A module takes what registers and modules before it hold, a register anything.
  for (size_t row = 0; row < queries.size(); ++row) {
    const std::string name = queries[row].substr(3, queries[row].find_first_of(",=", 3) - 3);
    const auto own = std::ranges::find(keys, name);
    const auto there = name.starts_with("r0") || name.starts_with("r1")
                           ? keys.size()
                           : static_cast<size_t>(own - keys.begin());
    for (size_t column = 0; column < keys.size(); ++column)
      EXPECT_EQ(weight(map, row, column) > 0, column < there) << queries[row] << keys[column];
  }
}

struct StepsTrial {
  std::string data, line;
  Settings settings;
  Names steps;
};

TEST(LookingTask, StepsAreCalledWhatTheyAreGiven) {
  const Settings two_bits{{"bits", "2"}};
  const std::vector<StepsTrial> trials{
      {"copy", "00 10", two_bits, {"00", "10", "|", "·", "·"}},
      {"repeat-copy", "00 10 x1", two_bits, {"00", "10", "|", "·", "·", "·"}},
      {"recall",
       "00 01 10 | 11 11 00 ? 00 01 10",
       two_bits,
       {"|", "00", "01", "10", "|", "11", "11", "00", "|", "00", "01", "10", "|", "·", "·", "·"}},
      {"sort", "00:1 11:0 01:0.5", two_bits, {"00", "11", "01", "|", "·", "·"}},
      {"n-gram", "0110100", {}, {"0", "1", "1", "0", "1", "0", "0"}},
      {"anbn", "aabb", {}, {"a", "a", "b", "b"}},
      {"ram-access",
       "1 2 3 0",
       {{"symbols", "4"}, {"lengths", "4"}, {"test_lengths", "4"}},
       {"1", "2", "3", "0", "|", "·", "·", "·", "·"}}};
  for (const StepsTrial& trial : trials) {
    SCOPED_TRACE(trial.data);
    Settings settings{{"model", "stack"}, {"width", "8"}};
    settings.set(trial.settings);
    const Drawing shown =
        solver_of("algorithm", "builtin:" + trial.data, settings)->attend(trial.line);
    expect_maps(shown, {{"held", trial.steps, trial.steps}});
  }
}

}  // namespace
}  // namespace fovea::test
