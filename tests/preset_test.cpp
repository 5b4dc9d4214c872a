// Presets: each is a run as it stands, and what else is said comes before it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/task/solver.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using nlohmann::json;

TEST(Presets, OfEveryOneEachOptionCounts) {
  const ScratchFolder scratch;
  EXPECT_GT(presets().size(), 20u);
  for (const Preset& preset : presets()) {
    Settings said = preset.settings;
    // How vectors are used says nothing without any.
    if (said.has("tune_vectors")) said.set("vectors", scratch.write("vectors.txt", "a 1 2\n"));
    EXPECT_NO_THROW({
      const Config config = make_config(find_task(preset.task), said);
      for (const auto& [name, text] : preset.settings) {
        EXPECT_EQ(config.settings.get(name), text) << preset.name << ": " << name;
      }
    }) << preset.name;
  }
}

json options_in(const std::string& folder) {
  std::ifstream file(folder + "/config.json");
  return json::parse(file)["options"];
}

const std::string nram = " algorithm --preset nram-copy --examples 20 --steps 1 ";

TEST(Presets, WhatIsSaidMayLeaveSomeOfItUnread) {
  const ScratchFolder scratch;
  const std::string to = scratch.path() + "/run", train = "train" + nram;
  const Ended ended = run(program + " " + train + "--machine-steps 4 --out " + to, true);
  ASSERT_EQ(ended.exit, 0) << ended.out;
  const json options = options_in(to);
  EXPECT_EQ(options["machine_steps"], 4);
  EXPECT_EQ(options["validate_every"], 500) << "the rest of it counts";
  EXPECT_FALSE(options.contains("cell_steps"));
  // The same words go on with it.
  EXPECT_EQ(run(program + " " + train + "--machine-steps 4 --resume --out " + to).exit, 0);
  // What was said is never left out, and what is wrong is said as ever.
  const auto refused = [](const std::string& words, const std::string& beginning) {
    const Ended ended = run(program + " " + words, true);
    EXPECT_EQ(ended.exit, 2) << words;
    EXPECT_TRUE(ended.out.starts_with("fovea: " + beginning)) << ended.out;
  };
  refused(train + "--machine-steps 4 --set cell_steps=0.5",
          "option 'cell_steps' is not read by the model nram of algorithm; ");
  refused(train + "--model nramm", "unknown model 'nramm'; did you mean 'nram'?");
  refused(train + "--set wdth=3", "unknown option 'wdth'; did you mean 'width'?");
}

TEST(Presets, OfAComparisonKeepWhatAnyChoiceReads) {
  const ScratchFolder scratch;
  const std::string compare = program + " compare" + nram + "--maps 0 --out " + scratch.path();
  // One of them reads cell_steps.
  const Ended one = run(compare + "/one --choice machine_steps=3 --choice model=nram", true);
  ASSERT_EQ(one.exit, 0) << one.out;
  const std::string runs = scratch.path() + "/one/runs/";
  EXPECT_EQ(options_in(runs + "model=nram/seed-0")["cell_steps"], 0.5);
  EXPECT_FALSE(options_in(runs + "machine_steps=3/seed-0").contains("cell_steps"));
  // None does.
  const Ended none = run(compare + "/none --vary machine_steps=3,4", true);
  ASSERT_EQ(none.exit, 0) << none.out;
  for (const char* folder : {"/one", "/none"}) {
    std::ifstream file(scratch.path() + folder + "/comparison.json");
    const std::string command = json::parse(file)["command"];
    EXPECT_EQ(command.find("cell-steps") != command.npos, folder == std::string("/one")) << command;
    EXPECT_EQ(run(program + command.substr(5), true).exit, 0) << command;
  }
}

}  // namespace
}  // namespace fovea::test
