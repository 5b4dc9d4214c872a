// The task `image`, by the program alone.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/data/digits.h"
#include "fovea/report/picture_map.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

nlohmann::json trained(const std::string& words) {
  const Ended ended = run(program + " train image --json " + words);
  EXPECT_EQ(ended.exit, 0) << run(program + " train image " + words, true).out;
  return ended.exit == 0 ? nlohmann::json::parse(ended.out) : nlohmann::json();
}

TEST(ImageTask, EveryModelLearnsAnswersAndShows) {
  const ScratchFolder scratch;
  const std::vector<std::array<std::string, 3>> models{
      {"conv --width 8 --epochs 3", "0.9", ""},
      {"conv --conv-block residual --width 8 --epochs 2", "0.9", ""},
      {"conv --conv-block depthwise --width 8 --epochs 3", "0.8", ""},
      {"fc --width 64 --epochs 4", "0.8", ""},
      {"patches --patch 7 --width 32 --layers 2 --warmup 0 --epochs 8", "0.5",
       "encoder/1/self head 1"},
      {"glimpses --width 64 --glimpses 4 --epochs 12", "0.6", "glimpses"},
      {"random_glimpses --width 64 --glimpses 4 --epochs 1", "0.01", "glimpses"}};
  for (const auto& [words, least, map] : models) {
    SCOPED_TRACE(words);
    const std::string folder = scratch.path() + "/" + std::to_string(hash_name(words));
    const auto summary = trained("--data builtin:digits --examples 1000 --rate 0.003 --model " +
                                 words + " --out " + folder);
    EXPECT_GE(summary["test"]["accuracy"].get<double>(), std::stod(least)) << summary.dump();
    const Ended measured = run(program + " eval " + folder + " --json");
    EXPECT_EQ(nlohmann::json::parse(measured.out)["metrics"]["accuracy"],
              summary["test"]["accuracy"]);
    const Ended answers = run("printf 'builtin:digits#3\\n\\n5\\nbuiltin:digits#3\\n' | " +
                              program + " predict " + folder);
    EXPECT_EQ(std::ranges::count(answers.out, '\n'), 4) << answers.out;
    const Ended shown = run(program + " attend " + folder + " builtin:digits#3 --json");
    EXPECT_EQ(shown.exit == 0, !map.empty());
    if (shown.exit != 0) continue;
    EXPECT_EQ(nlohmann::json::parse(shown.out)["maps"][0]["name"], map);
    for (const std::string kind : {"svg", "png", "html"}) {
      EXPECT_EQ(
          run(program + " attend " + folder + " 3 --out " + scratch.path() + "/a." + kind).exit, 0)
          << kind;
    }
    EXPECT_EQ(run(program + " attend " + folder + " 3").exit, 0);
  }
}

TEST(ImageTask, SameBitsWithAnyThreadsAndAfterAKill) {
  const ScratchFolder scratch;
  const std::string words =
      "train image --data builtin:translated --examples 200 --shift-by 2 --crop 0.8 --flip "
      "--batch 16 --width 8 --validate-every 4 --schedule constant ";
  const auto weights = [&](const std::string& folder) {
    return run("md5sum < " + scratch.path() + "/" + folder + "/model.safetensors").out;
  };
  const auto go = [&](const std::string& threads, const std::string& rest) {
    EXPECT_EQ(run("FOVEA_THREADS=" + threads + " " + program + " " + words + rest).exit, 0);
  };
  go("1", "--steps 16 --no-keep-best --out " + scratch.path() + "/one");
  go("2", "--steps 16 --no-keep-best --out " + scratch.path() + "/two");
  EXPECT_EQ(weights("one"), weights("two"));
  go("2", "--steps 7 --no-keep-best --out " + scratch.path() + "/part");
  go("1", "--steps 16 --no-keep-best --resume --out " + scratch.path() + "/part");
  EXPECT_EQ(weights("one"), weights("part"));
}

// A folder with a table, grey among colours, a picture of one pixel: one size for all.
TEST(ImageTask, FilesOfOnesOwn) {
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch.path() + "/set");
  std::string table = "name,kind\n";
  for (int i = 0; i < 60; ++i) {
    const bool light = i % 2;
    const int64_t side = i == 7 ? 1 : 5 + i % 3, channels = i % 3 == 0 ? 3 : 1;
    const Picture picture{side, side, channels,
                          std::vector<uint8_t>(static_cast<size_t>(side * side * channels),
                                               static_cast<uint8_t>(light ? 200 + i % 40 : i))};
    scratch.write(say("set/", i, ".png"), encode_png(picture));
    table += say(i, ".png,", light ? "light" : "dark", "\n");
  }
  scratch.write("set/list.csv", table);
  const std::string folder = scratch.path() + "/out";
  const std::string words = "--data " + scratch.path() +
                            "/set --columns label=kind,picture=name --model fc --width 8 "
                            "--size 6 --epochs 30 --out " +
                            folder;
  EXPECT_GE(trained(words)["test"]["accuracy"].get<double>(), 0.9);
  const std::string one = scratch.path() + "/set/7.png";
  EXPECT_EQ(run("echo " + one + " | " + program + " predict " + folder).out, "light\n");
  const Ended info = run(program + " info " + folder);
  EXPECT_EQ(info.exit, 0);
  EXPECT_EQ(run(program + " eval " + folder + " --data " + scratch.path() + "/set --json").exit, 0);
  const std::string absent = scratch.path() + "/absent.png";
  const Ended gone = run("echo " + absent + " | " + program + " predict " + folder, true);
  EXPECT_NE(gone.exit, 0);
  EXPECT_NE(gone.out.find("absent.png"), std::string::npos) << gone.out;
}

TEST(ImageTask, SaysWhatIsWrong) {
  const ScratchFolder scratch;
  const std::string bad = scratch.write("a.tsv", "picture\tlabel\nb.png\tx\n");
  expect_refused("train image --data " + bad + " --steps 1", 1,
                 bad + ":2: there is no file " + scratch.path() + "/b.png");
  expect_refused(
      "train image --data builtin:digits --canvas 20 --steps 1", 1,
      "canvas: pictures of 28 x 28 pixels do not fit on 20 x 20; give a larger one, or a "
      "smaller size");
  const Ended shift = run(program + " train image --data builtin:digits --size 9x --steps 1", true);
  EXPECT_NE(shift.exit, 0);
  EXPECT_NE(shift.out.find("size: needs auto, or pixels as 32 or 32x48"), std::string::npos);
  EXPECT_EQ(run(program + " train image --data builtin:digits --patch 4 --steps 1").exit, 2)
      << "an option of another model";
}

TEST(ImageTask, MnistIsLearned) {
  const std::string mnist = shared_data("mnist");
  if (mnist.empty()) GTEST_SKIP() << "MNIST is not there";
  EXPECT_GE(
      trained("--data " + mnist +
              " --width 8 --rate 0.005 --steps 100 --validate-examples 500")["test"]["accuracy"]
          .get<double>(),
      0.92);
}

}  // namespace
}  // namespace fovea::test
