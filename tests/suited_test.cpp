// What suits a file of examples is taken where nothing else is said.
#include "fovea/task/fit/suited.h"

#include <gtest/gtest.h>

#include "support/scratch.h"

namespace fovea::test {
namespace {

std::string opinions(int n) {
  std::string text = "label\ttext\n";
  for (int i = 0; i < n; ++i) {
    text += (i % 2 ? "good\ta fine thing " : "bad\ta poor thing ") + std::to_string(i) + "\n";
  }
  return text;
}

TEST(Suited, SmallDataGetsASmallModelThatForgets) {
  const ScratchFolder scratch;
  const Task& task = find_task("classify");
  const std::string few = scratch.write("few.tsv", opinions(300)),
                    many = scratch.write("many.tsv", opinions(30'000));
  const Suited small = suited_to_data(task, {{"data", few}}),
               large = suited_to_data(task, {{"data", many}});
  EXPECT_EQ(small.settings.get("width"), "64");
  EXPECT_EQ(small.settings.get("dropout"), "0.5");
  EXPECT_EQ(small.settings.get("epochs"), "25");
  EXPECT_EQ(small.settings.get("time"), "60s") << "whichever ends first";
  EXPECT_EQ(large.settings.get("dropout"), "0.4");
  EXPECT_NE(small.why.find("300 examples"), std::string::npos) << small.why;
  make_config(task, small.settings);  // all of it is read
}

TEST(Suited, WhatIsSaidGoesFirst) {
  const ScratchFolder scratch;
  const Task& task = find_task("classify");
  const std::string data = scratch.write("few.tsv", opinions(300));
  const Suited one = suited_to_data(task, {{"data", data}, {"width", "7"}, {"time", "5s"}});
  EXPECT_EQ(one.settings.get("width"), "7");
  EXPECT_EQ(one.settings.get("time"), "5s");
  EXPECT_FALSE(one.settings.has("epochs"));
  EXPECT_EQ(one.settings.get("early_stop"), "10");
  // Steps are counted: nothing but they ends such a run.
  EXPECT_FALSE(suited_to_data(task, {{"data", data}, {"steps", "3"}}).settings.has("early_stop"));
  // Of a baseline, or of options that another choice makes idle, nothing is added.
  EXPECT_EQ(suited_to_data(task, {{"data", data}, {"model", "linear"}}).why, "");
  const Settings pair{{"data", scratch.write("pairs.tsv", "label\ta\tb\n1\tx y\tx\n0\tx\ty z\n")},
                      {"encoder", "transformer"}};
  make_config(find_task("pair"), suited_to_data(find_task("pair"), pair).settings);
}

TEST(Suited, CorporaGetPiecesAndOurOwnDataStaysAsItIs) {
  const ScratchFolder scratch;
  std::string pairs;
  for (int i = 0; i < 3'000; ++i) {
    pairs += "wort" + std::to_string(i * 7 % 2999) + " und\tword" + std::to_string(i) + " and\n";
  }
  const Settings corpus{{"data", scratch.write("pairs.tsv", pairs)}};
  const Suited made = suited_to_data(find_task("translate"), corpus);
  EXPECT_TRUE(made.settings.get("tokens").starts_with("unigram:")) << made.why;
  EXPECT_EQ(suited_to_data(find_task("translate"), {{"data", "builtin:dates"}}).why, "");
  // What cannot be read is the task's to say.
  const Settings nowhere{{"data", scratch.path() + "/none.tsv"}};
  EXPECT_EQ(suited_to_data(find_task("translate"), nowhere).why, "");
}

}  // namespace
}  // namespace fovea::test
