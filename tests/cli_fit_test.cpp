// fovea fit: from a file alone to a model, its card and its page; by its plan again; bad files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/base/random.h"
#include "fovea/task/fit/plan.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Opinions that a few words tell.
std::string opinions(int n) {
  Random random(1);
  const char* words[] = {"film", "plot", "actor", "scene", "the", "a", "very", "with", "music"};
  std::string text = "rating,review\n";
  for (int i = 0; i < n; ++i) {
    const bool good = random.below(2) == 1;
    text += good ? "good,\"" : "bad,\"";
    for (int w = 0; w < 6; ++w) text += std::string(words[random.below(9)]) + " ";
    text += std::string(good ? "lovely" : "dull") + std::to_string(random.below(400)) + "\"\n";
  }
  return text;
}

TEST(Baselines, AreModelsLikeAnyOther) {
  const ScratchFolder scratch;
  int number = 0;
  for (const auto& [words, input] : std::vector<std::pair<std::string, std::string>>{
           {"classify --data builtin:sentiment --model linear", "not a bad film"},
           {"classify --data builtin:sentiment --model most_frequent", "bad"},
           {"classify --data builtin:sentiment --model wide --embed 8 --width 8 --score-width 8 "
            "--steps 7",
            "not a bad film"},
           {"pair --data builtin:answers --model linear",
            "where does anna live ?\tanna lives in rome"},
           {"pair --data builtin:answers --model most_frequent", "where is she ?\tin rome"},
           {"pair --data builtin:records --model linear", "she feels her heart race\t90,?,100,120"},
           {"pair --data builtin:answers --model wide --beside parallel --embed 8 --width 8 "
            "--steps 7",
            "where does anna live ?\tanna lives in rome"},
           {"aspect --data builtin:aspects --model linear", "the food is great\tfood"},
           {"aspect --data builtin:aspects --model wide --beside rotatory --embed 8 --width 8 "
            "--steps 7",
            "the food is great\tfood"},
           {"aspect --data builtin:aspects --model most_frequent", "the food is great\tfood"},
           {"label --data builtin:tags --model crf", "the old man"},
           {"label --data builtin:tags --model most_frequent", "the old man"},
           {"label --data builtin:tags --output crf --embed 8 --width 8 --steps 7", "the old man"},
           {"lm --data builtin:dates --model ngram --order 4 --length 5", "May"},
           {"regress --data builtin:sine --model nearest", "2.5"},
           {"regress --data builtin:sine --model least_squares", "2.5"}}) {
    SCOPED_TRACE(words);
    const std::string one = scratch.path() + "/" + std::to_string(++number), two = one + "b";
    const std::string command = program + " train " + words + " --examples 150 --json --out ";
    const Ended trained = run("FOVEA_THREADS=1 " + command + one);
    ASSERT_EQ(trained.exit, 0);
    ASSERT_EQ(run("FOVEA_THREADS=3 " + command + two).exit, 0);
    EXPECT_TRUE(bytes_of(one + "/model.safetensors") == bytes_of(two + "/model.safetensors"));
    const auto summary = nlohmann::json::parse(trained.out);
    const Ended measured = run(program + " eval " + one + " --json");
    ASSERT_EQ(measured.exit, 0);
    for (const auto& [name, value] : summary["test"].items()) {
      EXPECT_EQ(nlohmann::json::parse(measured.out)["metrics"][name], value) << name;
    }
    EXPECT_EQ(run("echo '" + input + "' | " + program + " predict " + one).exit, 0);
    // Words have weights here, tags and numbers do not.
    const bool shows =
        words.find(" linear") != std::string::npos || words.find("wide") != std::string::npos;
    EXPECT_EQ(run(program + " attend " + one + " '" + input + "' --json", true).exit,
              shows ? 0 : 1);
    ASSERT_EQ(run(command + one + " --resume").exit, 0);
    EXPECT_TRUE(bytes_of(one + "/model.safetensors") == bytes_of(two + "/model.safetensors"));
  }
}

TEST(Fit, FindsAModelForAFileAndLeavesAFolderLikeAnyOther) {
  const ScratchFolder scratch;
  const std::string data = scratch.write("opinions.csv", opinions(300)),
                    out = scratch.path() + "/fit";
  const Ended ended = run(program + " fit " + data + " --time 3s --json --out " + out);
  ASSERT_EQ(ended.exit, 0);
  const auto result = nlohmann::json::parse(ended.out);
  EXPECT_EQ(result["task"], "classify");
  EXPECT_GT(result["rows"][0]["test"], 0.8) << ended.out;
  for (const char* file :
       {"config.json", "model.safetensors", "README.md", "report.html", "plan.json"}) {
    EXPECT_TRUE(fs::exists(out + "/" + file)) << file;
  }
  EXPECT_NE(bytes_of(out + "/README.md").find("rating"), std::string::npos);
  const Ended answer = run("echo 'the film lovely7' | " + program + " predict " + out);
  EXPECT_EQ(answer.exit, 0);
  EXPECT_EQ(answer.out, "good\n");
  EXPECT_EQ(run(program + " attend " + out + " 'the film lovely7' --json").exit, 0);
  EXPECT_EQ(run(program + " fit " + data + " --time 3s --out " + out, true).exit, 1)
      << "a folder that holds a model is not written to";
  // The plan again, with another number of threads: the same bits.
  const std::string again = scratch.path() + "/again";
  ASSERT_EQ(
      run("FOVEA_THREADS=3 " + program + " fit --plan " + out + "/plan.json --out " + again).exit,
      0);
  EXPECT_EQ(bytes_of(out + "/model.safetensors"), bytes_of(again + "/model.safetensors"));
}

TEST(Fit, ASeedOfItsOwn) {
  const ScratchFolder scratch;
  const std::string data = scratch.write("opinions.csv", opinions(120)),
                    out = scratch.path() + "/fit";
  ASSERT_EQ(run(program + " fit " + data + " --time 2s --set seed=7 --out " + out).exit, 0);
  EXPECT_TRUE(fs::exists(out + "/runs/linear/seed-7/config.json"));
  const auto config = nlohmann::json::parse(bytes_of(out + "/runs/linear/seed-7/config.json"));
  EXPECT_EQ(config["options"]["seed"], 7);
  const Ended bad = run(program + " fit " + data + " --set seed=../x --out " + out + "b", true);
  EXPECT_EQ(bad.exit, 1);
  EXPECT_FALSE(fs::exists(out + "b"));
}

TEST(Fit, BadFilesGetOneSentence) {
  const ScratchFolder scratch;
  std::string one = "label\ttext\n", twins = "label\ttext\n", many;
  for (int i = 0; i < 60; ++i) one += "same\tsome text " + std::to_string(i) + "\n";
  for (int i = 0; i < 500; ++i)
    many += "k" + std::to_string(i) + "\ttext " + std::to_string(i) + "\n";
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"one_class", one}, {"two_rows", "a\tb c\nd\te f\n"}, {"empty", ""}, {"many", many}}) {
    SCOPED_TRACE(name);
    const std::string out = scratch.path() + "/" + name + ".out";
    const Ended ended = run(
        program + " fit " + scratch.write(name, text) + " --task classify --time 2s --out " + out,
        true);
    EXPECT_EQ(ended.exit, 1);
    EXPECT_NE(ended.out.find("fovea: "), std::string::npos) << ended.out;
  }
  EXPECT_EQ(run(program + " fit nothing.tsv --out " + scratch.path() + "/x", true).exit, 1);
  const Ended name = run(program + " fit " + scratch.write("caf\xe9.csv", opinions(40)) +
                             " --time 2s --out " + scratch.path() + "/y",
                         true);
  EXPECT_NE(name.out.find("option 'data' has a byte that is not UTF-8"), std::string::npos)
      << name.out;
}

TEST(Fit, KeepsStdinForAllThatReadItAgain) {
  const ScratchFolder scratch;
  const std::string text = opinions(80), data = scratch.write("opinions.csv", text),
                    out = scratch.path() + "/fit";
  const Ended ended = run("cat " + data + " | " + program + " fit - --time 2s --out " + out, true);
  ASSERT_EQ(ended.exit, 0) << ended.out;
  EXPECT_NE(ended.out.find("kept as " + out + "/stdin.txt"), std::string::npos) << ended.out;
  EXPECT_EQ(bytes_of(out + "/stdin.txt"), text);
  EXPECT_EQ(run(program + " eval " + out).exit, 0);
  const std::string none = scratch.path() + "/none";
  EXPECT_EQ(run(program + " fit - --out " + none + " </dev/null", true).exit, 1);
  EXPECT_FALSE(fs::exists(none));
}

TEST(Fit, SaysThatAPlansTimeCountsWhenItGoesOn) {
  const ScratchFolder scratch;
  const std::string out = scratch.path() + "/fit";
  fs::create_directories(out);
  FitPlan plan;
  plan.task = "classify";
  plan.data = {{"data", scratch.write("opinions.csv", opinions(40))}};
  plan.seconds = 25;
  PlannedCandidate simple;
  simple.name = "most_frequent";
  simple.settings = {{"model", "most_frequent"}};
  simple.baseline = true;
  plan.candidates.push_back(simple);
  plan.save(out + "/plan.json");
  const Ended ended = run(program + " fit --resume --time 5s --out " + out, true);
  EXPECT_EQ(ended.exit, 0) << ended.out;
  EXPECT_NE(ended.out.find("the plan's 25 s count"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("--time 5s does not count"), std::string::npos) << ended.out;
}

// A search of 9 seconds that has its baselines.
FitPlan fitted_baselines(const std::string& data) {
  FitPlan plan;
  plan.task = "classify";
  plan.data = {{"data", data}};
  plan.seconds = 9;
  for (const char* name : {"most_frequent", "linear"}) {
    PlannedCandidate one;
    one.name = name;
    one.settings = {{"model", name}};
    one.baseline = one.finished = true;
    plan.candidates.push_back(one);
  }
  return plan;
}

// A search whose time is over but for measuring has its models, and more time may be given.
TEST(Fit, GoesOnWhenItsTimeIsOver) {
  const ScratchFolder scratch;
  const std::string out = scratch.path() + "/fit", data = scratch.write("o.csv", opinions(60));
  // Killed when the baselines were fitted.
  FitPlan plan = fitted_baselines(data);
  plan.used = 8.9;
  fs::create_directories(out);
  plan.save(out + "/plan.json");
  const Ended ended = run(program + " fit --resume --time 60s --out " + out, true);
  EXPECT_EQ(ended.exit, 0) << ended.out;
  EXPECT_NE(ended.out.find("60s in the place of 9 s"), std::string::npos) << ended.out;
  EXPECT_EQ(FitPlan::load(out + "/plan.json").seconds, 60);

  fs::remove_all(out);
  fs::create_directories(out);
  plan.save(out + "/plan.json");
  const Ended late = run(program + " fit --resume --out " + out, true);
  EXPECT_EQ(late.exit, 0) << late.out;
}

// Stopped by SIGINT while something is fitted or trained: a model is there, the same comes of its
// plan, and it can go on.
TEST(Fit, StoppedAtAnyMomentItLeavesTheBestAndAPlanOfJustThat) {
  const ScratchFolder scratch;
  const std::string data = scratch.write("o.csv", opinions(1500));
  int models = 0;
  for (const char* after : {"0.3", "1.2", "2.5"}) {
    const std::string out = scratch.path() + "/" + after, again = out + "again";
    const Ended ended = run("timeout -s INT " + std::string(after) + " " + program + " fit " +
                                data + " --time 60s --out " + out,
                            true);
    EXPECT_TRUE(ended.exit == 130 || ended.exit == 124 || ended.exit == 1)
        << ended.exit << ended.out;
    if (!fs::exists(out + "/config.json")) continue;  // nothing was fitted yet, and it said so
    ++models;
    EXPECT_EQ(run(program + " fit --plan " + out + "/plan.json --out " + again, true).exit, 0);
    EXPECT_EQ(bytes_of(out + "/model.safetensors"), bytes_of(again + "/model.safetensors"))
        << "stopped after " << after << " s";
  }
  EXPECT_GT(models, 0);
  const std::string last = scratch.path() + "/2.5";
  if (fs::exists(last + "/config.json")) {
    const Ended more = run(program + " fit --resume --time 3s --out " + last, true);
    EXPECT_EQ(more.exit, 0) << more.out;
    EXPECT_FALSE(FitPlan::load(last + "/plan.json").stopped);
  }
}

// What the clock cut short is cut as short by the plan: fitting ends after as many costs.
TEST(Fit, APlanFitsWithAsManyCosts) {
  const ScratchFolder scratch;
  const std::string out = scratch.path() + "/fit", data = scratch.write("o.csv", opinions(80));
  FitPlan plan = fitted_baselines(data);
  for (PlannedCandidate& one : plan.candidates) one.fitted.tries = 1;
  plan.save(scratch.path() + "/plan.json");
  const Ended ended =
      run(program + " fit --plan " + scratch.path() + "/plan.json --out " + out, true);
  ASSERT_EQ(ended.exit, 0) << ended.out;
  const FitPlan done = FitPlan::load(out + "/plan.json");
  EXPECT_EQ(done.candidates[1].fitted.tries, 1);
  ASSERT_EQ(done.candidates[1].fitted.chosen.size(), 2U);
  EXPECT_EQ(done.candidates[1].fitted.chosen[0],
            0.1);  // the first, which no other was tried beside
}

TEST(Fit, SaysThatVectorsAreNotUsed) {
  const ScratchFolder scratch;
  std::string numbers = "x,y\n";
  for (int i = 0; i < 40; ++i) numbers += say(i, ",", 2 * i, "\n");
  const Ended ended =
      run(program + " fit " + scratch.write("n.csv", numbers) + " --time 3s --vectors " +
              scratch.write("v.txt", "a 1 2\n") + " --out " + scratch.path() + "/m",
          true);
  EXPECT_EQ(ended.exit, 0) << ended.out;
  EXPECT_NE(ended.out.find("takes any; not used"), std::string::npos) << ended.out;
}

// Files with a comma between them, few words, a warm-up that suits the time, and what --set says.
TEST(Fit, TranslatesASmallCorpusByItsWords) {
  const ScratchFolder scratch;
  Random random(1);
  const char *english[] = {"phone", "radio", "bag"}, *german[] = {"Telefon", "Radio", "Tasche"};
  std::string source, target;
  for (int i = 0; i < 120; ++i) {
    const auto a = random.below(3), b = random.below(3);
    source += std::string("the ") + english[a] + " and the " + english[b] + "\n";
    target += std::string(german[a]) + " und " + german[b] + "\n";
  }
  const std::string out = scratch.path() + "/fit";
  const Ended ended =
      run(program + " fit " + scratch.write("v.en", source) + "," + scratch.write("v.de", target) +
              " --time 3s --set batch=8 --out " + out,
          true);
  ASSERT_EQ(ended.exit, 0) << ended.out;
  const FitPlan plan = FitPlan::load(out + "/plan.json");
  ASSERT_FALSE(plan.candidates.empty());
  const PlannedCandidate& first = plan.candidates[0];
  EXPECT_EQ(first.settings.get("tokens"), "auto");
  EXPECT_EQ(first.settings.get("batch"), "8");
  EXPECT_GE(first.warmup, 1);
  EXPECT_LE(first.warmup, std::max<int64_t>(1, first.whole / 4));
}

TEST(Fit, HelpSaysWhatEachOptionIs) {
  const std::string help = run(program + " fit --help").out;
  const size_t part = help.find("--part");
  ASSERT_NE(part, std::string::npos);
  EXPECT_NE(help.find("What ranks start", part), std::string::npos) << help;
}

TEST(FitPlan, IsReadAsItWasWritten) {
  const ScratchFolder scratch;
  FitPlan plan;
  plan.task = "classify";
  plan.data = {{"data", "x.tsv"}};
  plan.rungs = 2;
  for (const auto& [name, value] : std::vector<std::pair<std::string, double>>{
           {"a", 0.5}, {"b", 0.7}, {"c", 0.7}, {"d", 0.6}}) {
    PlannedCandidate one;
    one.name = name;
    one.steps = {10, 30};
    one.whole = 30;
    one.reached = {value};
    one.warmup = 7;
    plan.candidates.push_back(one);
  }
  plan.save(scratch.path() + "/plan.json");
  const FitPlan read = FitPlan::load(scratch.path() + "/plan.json");
  EXPECT_EQ(read.candidates.size(), 4U);
  EXPECT_EQ(read.candidates[1].steps, plan.candidates[1].steps);
  EXPECT_EQ(read.candidates[1].warmup, 7);
  EXPECT_EQ(promoted(read, 0, true), (std::vector<size_t>{1, 2}));
  EXPECT_EQ(promoted(read, 0, false), (std::vector<size_t>{0, 3}));
  plan.places = {4, 3};  // there was time for more
  plan.save(scratch.path() + "/plan.json");
  EXPECT_EQ(promoted(FitPlan::load(scratch.path() + "/plan.json"), 0, true),
            (std::vector<size_t>{1, 2, 3}));
  EXPECT_EQ(places_for(9, 3), (std::vector<int64_t>{9, 3, 1}));
  EXPECT_EQ(places_for(1, 3), std::vector<int64_t>{1});
  EXPECT_TRUE(places_for(0, 3).empty());
  EXPECT_NE(error_of([&] { FitPlan::load(scratch.write("bad.json", "{}")); }), "");
}

}  // namespace
}  // namespace fovea::test
