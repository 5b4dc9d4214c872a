// What `fovea compare` leaves behind: a table of 80 columns, the command that makes it again, and
// the model to ship.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/utf8.h"
#include "fovea/task/config.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json json_of(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

const std::string small = " --embed 8 --width 12 --steps 12 --maps 1 ";

// Two choices, two seeds, made once.
struct Compared {
  ScratchFolder scratch;
  std::string folder = scratch.path() + "/which one";
  Ended ended = run(program + " compare translate --data builtin:reverse --examples 150" + small +
                    "--lowercase --set keep_best=false --seeds 2 --vary score=none,dot --out '" +
                    folder + "'");
};
const Compared& compared() {
  static const Compared once;
  return once;
}

// What suits a file goes by the model, and would make choices differ in more than what is varied.
TEST(Compare, ChoicesOnAFileDifferOnlyInWhatIsVaried) {
  const ScratchFolder scratch;
  std::string rows = "label\ttext\n";
  for (int i = 0; i < 40; ++i) rows += i % 2 ? "good\ta fine thing\n" : "bad\ta poor thing\n";
  const std::string out = scratch.path() + "/out";
  ASSERT_EQ(run(program + " compare classify --data " + scratch.write("rows.tsv", rows) +
                " --embed 8 --width 8 --steps 1 --maps 0 --seeds 1 --vary model=rnn,capsules " +
                "--out " + out)
                .exit,
            0);
  const json one = json_of(out + "/runs/model=rnn/seed-0/config.json")["options"],
             other = json_of(out + "/runs/model=capsules/seed-0/config.json")["options"];
  for (const auto& [name, value] : one.items()) {
    if (name == "model" || !other.contains(name)) continue;
    EXPECT_EQ(other[name], value) << name;
  }
  EXPECT_EQ(one["dropout"], 0.3) << "the task's own";
}

TEST(Compare, FitsEightyColumns) {
  ASSERT_EQ(compared().ended.exit, 0) << compared().ended.out;
  const std::string& out = compared().ended.out;
  for (const char* part : {"ms/1", "p95", "ex/s", "95th percentile", "±"}) {
    EXPECT_NE(out.find(part), out.npos) << part << "\n" << out;
  }
  std::istringstream lines(out.substr(0, out.find("Where ")));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(code_points(line).size(), 80u) << line;
  }
}

TEST(Compare, TheReportsCommandRunsAsItIs) {
  ASSERT_EQ(compared().ended.exit, 0);
  const json before = json_of(compared().folder + "/comparison.json");
  const std::string command = before["command"];
  ASSERT_TRUE(command.starts_with("fovea compare translate ")) << command;
  // Every option is one of the program's.
  const std::string help = run(program + " compare translate --help-all").out;
  for (size_t at = command.find(" --"); at != command.npos; at = command.find(" --", at + 1)) {
    const std::string flag = command.substr(at + 1, command.find_first_of(" =", at + 1) - at - 1);
    const std::string pair = "--[no-]" + flag.substr(flag.starts_with("--no-") ? 5 : 2);
    EXPECT_TRUE(help.find(flag) != help.npos || help.find(pair) != help.npos)
        << flag << " of " << command;
  }
  const Ended again = run(program + command.substr(5) + " --json", true);
  ASSERT_EQ(again.exit, 0) << command << "\n" << again.out;
  EXPECT_EQ(json::parse(again.out), before) << "other settings than those of " << command;
}

TEST(Compare, TheCommandOfAPresetSaysEachOptionOnce) {
  const ScratchFolder scratch;
  const std::string to = scratch.path() + "/c";
  const Preset& preset = presets()[0];
  // Data that is not there: every run fails, but the report is written.
  run(program + " compare " + preset.task + " --preset " + preset.name + " --data " +
      scratch.path() + "/none --seeds 1 --time 1s --vary cell=lstm --rate 0.5 --width 8 --out " +
      to);
  const std::string command = json_of(to + "/comparison.json")["command"];
  EXPECT_EQ(command.find("--rate "), command.rfind("--rate ")) << command;
  const Ended again = run(program + command.substr(5), true);
  EXPECT_EQ(again.exit, 1) << "2 is wrong usage: " << command;
  EXPECT_EQ(again.out.find("other settings"), again.out.npos) << again.out;
}

// The smallest runs that there are.
const std::string tiny =
    "compare translate --data builtin:reverse --examples 60 --embed 8 --width 8 --steps 1 --maps "
    "0 ";

// A folder that words which are refused do not make.
std::string nowhere() {
  static const ScratchFolder scratch;
  return scratch.path() + "/nowhere";
}

TEST(Compare, SeedsBeginWithTheOneThatIsSaid) {
  const ScratchFolder scratch;
  const std::string to = scratch.path() + "/c", words = program + " " + tiny + "--out " + to;
  const Ended ended = run(words + " --seed 7 --seeds 2 --vary score=dot,none");
  ASSERT_EQ(ended.exit, 0) << ended.out;
  for (const char* choice : {"score=dot", "score=none"}) {
    const std::string runs = to + "/runs/" + choice + "/seed-";
    EXPECT_EQ(json_of(runs + "7/config.json")["options"]["seed"], 7);
    EXPECT_EQ(json_of(runs + "8/config.json")["options"]["seed"], 8);
    EXPECT_FALSE(fs::exists(runs + "0") || fs::exists(runs + "9"));
  }
  const json page = json_of(to + "/comparison.json");
  EXPECT_EQ(page["seeds"], json({7, 8}));
  const std::string best = page["best_run"], command = page["command"];
  EXPECT_TRUE(best.ends_with("/seed-7") || best.ends_with("/seed-8")) << best;
  EXPECT_TRUE(fs::exists(to + "/best/model.safetensors"));
  EXPECT_NE(command.find(" --seed 7 "), command.npos) << command;
  const Ended again = run(program + command.substr(5) + " --json");
  ASSERT_EQ(again.exit, 0) << command;
  EXPECT_EQ(json::parse(again.out), page);
  // Who adds a choice of one seed gets a command that makes the others' seeds, too.
  ASSERT_EQ(run(words + " --seed 7 --choice score=additive").exit, 0);
  const std::string more = json_of(to + "/comparison.json")["command"];
  EXPECT_NE(more.find(" --seeds 2 "), more.npos) << more;
  // Other seeds are another comparison.
  EXPECT_EQ(run(words + " --seed 3 --vary score=dot,none").exit, 1);
}

TEST(Compare, SeedsAreNoChoice) {
  const std::string sentence =
      "compare: 'seed' is no choice, as all choices are run with the same seeds; give --seeds for "
      "how many, and --seed for the first";
  expect_refused(tiny + "--vary seed=1,2 --out " + nowhere(), 2, sentence);
  expect_refused(tiny + "--choice score=dot,seed=1 --out " + nowhere(), 2, sentence);
}

// Two processes would write one folder, or the same run would stand there twice.
TEST(Compare, AChoiceIsGivenOnce) {
  const std::string twice =
      "compare: two choices are called 'score=dot' and would be run in one folder; leave one out";
  expect_refused(tiny + "--vary score=dot,dot --out " + nowhere(), 2, twice);
  expect_refused(tiny + "--choice score=dot --choice score=dot --out " + nowhere(), 2, twice);
  expect_refused(tiny + "--vary score=none,dot --choice score=dot --out " + nowhere(), 2, twice);
  expect_refused(tiny + "--choice score=dot --choice score=dot,align=softmax --out " + nowhere(), 2,
                 "compare: the choices 'score=dot' and 'score=dot,align=softmax' come to the same "
                 "settings; leave one out");
  EXPECT_FALSE(fs::exists(nowhere()));
}

TEST(Compare, AnOptionThatIsNotReadIsRefused) {
  const auto refused = [](const std::string& words, const std::string& beginning) {
    const Ended ended = run(program + " " + tiny + words + " --out " + nowhere(), true);
    EXPECT_EQ(ended.exit, 2) << words;
    EXPECT_TRUE(ended.out.starts_with("fovea: " + beginning)) << ended.out;
    EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1) << ended.out;
  };
  const std::string unread = "option 'cell' is not read by the model transformer of translate; ";
  const Ended literal = run(
      program + " compare translate --model transformer --vary cell=gru,lstm --out " + nowhere(),
      true);
  EXPECT_EQ(literal.exit, 2);
  EXPECT_TRUE(literal.out.starts_with("fovea: " + unread)) << literal.out;
  refused("--choice score=dot --choice model=transformer,cell=gru", unread);
  refused("--set hidden=16 --vary cell=gru,lstm",
          "compare: option 'hidden' is read by none of the choices");
  EXPECT_FALSE(fs::exists(nowhere()));
}

// What a preset says beside what the choices read makes no other comparison.
TEST(Compare, APresetsComparisonIsAddedToAndShownAgain) {
  const ScratchFolder scratch;
  const std::string words = program +
                            " compare algorithm --preset nram-copy --examples 20 --steps 1 --maps "
                            "0 --seeds 1 --out " +
                            scratch.path() + "/c";
  ASSERT_EQ(run(words + " --vary machine_steps=3,4").exit, 0);
  const Ended shown = run(words, true), added = run(words + " --choice model=nram", true);
  EXPECT_EQ(shown.exit, 0) << shown.out;
  EXPECT_EQ(added.exit, 0) << added.out;
  EXPECT_EQ(json_of(scratch.path() + "/c/comparison.json")["choices"].size(), 3);
  const Ended other = run(words + " --rate 0.5", true);
  EXPECT_EQ(other.exit, 1);
  EXPECT_NE(other.out.find("other settings (no --rate, here --rate 0.5)"), other.out.npos)
      << other.out;
}

TEST(Compare, RunsOnDataThatHasChangedDoNotStandBesideTheOthers) {
  const ScratchFolder scratch;
  const auto rows = [&](int n) {
    std::string text = "label\ttext\n";
    for (int i = 0; i < n; ++i) {
      text += (i % 2 ? "good\tfine " : "bad\tpoor ") + std::to_string(i) + "\n";
    }
    return scratch.write("rows.tsv", text);
  };
  const std::string words = program + " compare classify --data " + rows(40) +
                            " --width 8 --steps 1 --maps 0 --seeds 1 --out " + scratch.path() +
                            "/c --choice ";
  ASSERT_EQ(run(words + "score=dot").exit, 0);
  EXPECT_EQ(run(words + "score=none").exit, 0);
  // A damaged note of what it was made with is no comparison's.
  const std::string note = scratch.path() + "/c/compare.json", kept = json_of(note).dump();
  for (const char* bytes : {"", "{}", "[]", "{\"settings\": [], \"task\": 3}"}) {
    std::ofstream(note) << bytes;
    const Ended damaged = run(words + "score=dot", true);
    EXPECT_EQ(damaged.exit, 1) << bytes;
    EXPECT_EQ(damaged.out,
              "fovea: " + note + ": is not what a comparison was made with; give another --out\n");
  }
  std::ofstream(note) << kept;
  rows(50);
  const Ended ended = run(words + "score=additive", true);
  EXPECT_EQ(ended.exit, 1);
  EXPECT_NE(ended.out.find("rows.tsv was before it changed"), ended.out.npos) << ended.out;
}

// The data tells that a model of texts is meant, here as in training.
TEST(Compare, WhatTheDataHoldsDecidesWhichOptionsCount) {
  const ScratchFolder scratch;
  std::string rows = "target\ttext\n";
  for (int i = 0; i < 30; ++i)
    rows += std::to_string(i) + (i % 2 ? "\tgood film " : "\tpoor ") + "it is\n";
  const std::string words =
      program + " compare regress --vary tokens=words,chars --steps 1 --seeds 1 --maps 0 ";
  const Ended ended = run(
      words + "--data " + scratch.write("r.tsv", rows) + " --out " + scratch.path() + "/c", true);
  EXPECT_EQ(ended.exit, 0) << ended.out;
  // A choice may be a path, and be shown again.
  const std::string paths =
      program + " compare regress --steps 1 --seeds 1 --maps 0 --choice data=" + scratch.path() +
      "/r.tsv,tokens=words --out " + scratch.path() + "/p";
  for (int i = 0; i < 2; ++i) {
    const Ended of_path = run(paths, true);
    EXPECT_EQ(of_path.exit, 0) << of_path.out;
  }
  const Ended none = run(words + "--data /no/such/file --out " + nowhere(), true);
  EXPECT_EQ(none.exit, 1);
  EXPECT_EQ(none.out, "fovea: /no/such/file: cannot be read: No such file or directory\n");
}

// A script that reads the table asks the exit code whether all of it is there.
TEST(Compare, AChoiceThatFailedIsSaidInJsonAndByTheExitCode) {
  const ScratchFolder scratch;
  const Ended ended =
      run(program +
          " compare classify --data builtin:sentiment --examples 40 --steps 1 --maps "
          "0 --seeds 1 --json --choice model=transformer,width=8 --choice "
          "model=transformer,width=8,init=/none --out " +
          scratch.path() + "/c");
  EXPECT_EQ(ended.exit, 1);
  const json page = json::parse(ended.out);
  ASSERT_EQ(page["choices"].size(), 2) << page;
  EXPECT_EQ(page["choices"][0].value("failed", ""), "") << page;
  EXPECT_NE(page["choices"][1].value("failed", ""), "") << page;
}

TEST(Compare, NamesTheModelToShip) {
  ASSERT_EQ(compared().ended.exit, 0);
  const std::string& folder = compared().folder;
  const json page = json_of(folder + "/comparison.json");
  const std::string name = page["choices"][0]["name"], run_of = page["best_run"];
  EXPECT_TRUE(fs::is_symlink(folder + "/best"));
  EXPECT_EQ(fs::read_symlink(folder + "/best").string(), run_of) << "a relative link";
  EXPECT_TRUE(run_of.starts_with("runs/" + name + "/seed-"));
  EXPECT_NE(compared().ended.out.find("Best:   " + folder + "/" + run_of), std::string::npos);
  // Of the two seeds, the one that validated better.
  std::vector<double> worth;
  for (const char* seed : {"0", "1"}) {
    const json summary = json_of(folder + "/runs/" + name + "/seed-" + seed + "/summary.json");
    worth.push_back(summary["validation"].begin()->get<double>());
  }
  EXPECT_TRUE(run_of.ends_with(worth[1] > worth[0] ? "/seed-1" : "/seed-0")) << run_of;
  const std::string quoted = " '" + folder + "'";
  const Ended asked = run("echo 'a b c' | " + program + " predict" + quoted, true);
  EXPECT_EQ(asked.exit, 0);
  EXPECT_NE(asked.out.find(": a comparison; this is its best, " + folder + "/" + run_of),
            std::string::npos)
      << asked.out;
  EXPECT_EQ(run("echo 'a b c' | " + program + " predict" + quoted).out,
            run("echo 'a b c' | " + program + " predict '" + folder + "/best'").out);
  EXPECT_EQ(
      json::parse(run(program + " eval" + quoted + " --json").out)["metrics"],
      json::parse(run(program + " eval '" + folder + "/" + run_of + "' --json").out)["metrics"]);
}

TEST(Compare, AComparisonWithoutARunIsRefused) {
  const ScratchFolder scratch;
  scratch.write("compare.json", "{}");
  const std::string folder = scratch.path();
  expect_refused("eval " + folder, 1,
                 folder +
                     ": is a comparison without a finished run; compare first, or name a run "
                     "of " +
                     folder + "/runs");
}

TEST(Compare, OneSeedHasNoSpreadAndIsNeverWorse) {
  const ScratchFolder scratch;
  const std::string to = scratch.path() + "/c";
  const Ended ended = run(program + " compare classify --data builtin:sentiment --examples 200" +
                          small + "--vary score=none,dot --out " + to);
  ASSERT_EQ(ended.exit, 0) << ended.out;
  EXPECT_EQ(ended.out.find("±"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("worse"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("1 seed: "), std::string::npos) << ended.out;
  const json page = json_of(to + "/comparison.json");
  ASSERT_EQ(page["choices"].size(), 2u);
  for (const json& choice : page["choices"]) {
    EXPECT_TRUE(choice["metrics"]["accuracy"]["spread"].is_null());
    EXPECT_TRUE(choice["p_value"].is_null());
    EXPECT_LE(choice["example_ms"].get<double>(), choice["example_ms_95"].get<double>());
    EXPECT_GT(choice["examples_per_second"].get<double>(), 0);
  }
}

// Models of stories, with maps and without.
TEST(Compare, MemoriesAreHeldAgainstOtherModels) {
  const ScratchFolder scratch;
  const std::string to = scratch.path() + "/c";
  const Ended ended =
      run(program + " compare qa --data builtin:stories --examples 60 --steps 3 --width 8 " +
          "--maps 1 --choice model=memn2n --choice model=rnn --json --out " + to);
  ASSERT_EQ(ended.exit, 0) << ended.out;
  const json page = json::parse(ended.out);
  EXPECT_EQ(page, json_of(to + "/comparison.json"));
  std::vector<std::string> names;
  for (const json& choice : page["choices"]) {
    names.push_back(choice["name"]);
    EXPECT_EQ(choice["failed"], "");
    EXPECT_GT(choice["parameters"].get<double>(), 0);
    EXPECT_GT(choice["step_ms"].get<double>(), 0);
    for (const json& name : page["metrics"]) {
      const json& metric = choice["metrics"][name.get<std::string>()];
      EXPECT_GE(metric["mean"].get<double>(), 0) << name;
      EXPECT_EQ(metric["values"], json::array({metric["mean"]})) << name;
    }
    const json& curve = choice["runs"].at(0)["curve"];
    EXPECT_EQ(curve.back()["step"], 3);
    EXPECT_GT(curve.back()["loss"].get<double>(), 0);
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"model=memn2n", "model=rnn"}));
  for (const json& shown : page["examples"].at(0)["choices"]) {
    const json& of = page["choices"][shown["choice"].get<size_t>()];
    EXPECT_EQ(shown["maps"].size(), of["name"] == "model=memn2n" ? 1u : 0u);
  }
  std::ifstream file(to + "/report.html");
  const std::string report((std::istreambuf_iterator<char>(file)), {});
  for (const char* part : {"model=memn2n", "model=rnn", "right_answers", "hop 1"})
    EXPECT_NE(report.find(part), std::string::npos) << part;
}

TEST(Compare, BytesThatCutACharacterAreNoTrouble) {
  const ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 60; ++i) text += "Où sont les élèves à Noël ? Là-bas, près du château.\n";
  const std::string data = scratch.write("texte.txt", text), to = scratch.path() + "/c";
  const Ended ended = run(program + " compare lm --tokens bytes --data " + data +
                              " --layers 1 --width 16 --heads 2 --context 16 --steps 3 --length 4" +
                              " --maps 2 --vary rate=0.001,0.01 --out " + to,
                          true);
  EXPECT_EQ(ended.exit, 0) << ended.out;
  EXPECT_EQ(json_of(to + "/comparison.json")["choices"].size(), 2u);
}

TEST(Lm, TestsOnTextThatChoseNothing) {
  const ScratchFolder scratch;
  // The parts are of other letters: what is measured on tells by its loss alone.
  const std::string to = scratch.path() + "/lm";
  std::string text;
  for (const auto& [letter, lines] : {std::pair{'a', 80}, {'b', 10}, {'c', 10}}) {
    for (int i = 0; i < lines; ++i) text += std::string(19, letter) + "\n";
  }
  const std::string data = scratch.write("text.txt", text);
  const Ended trained =
      run(program + " train lm --data " + data +
              " --layers 1 --width 16 --heads 2 --context 16 --steps 2 --out " + to,
          true);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  EXPECT_NE(trained.out.find("1600 tokens to learn from, 200 to validate on, 200 to test on"),
            std::string::npos)
      << trained.out;
  const auto inputs = [&](const std::string& words) {
    EXPECT_EQ(
        run(program + " eval " + to + " --length 1 --details " + to + "/e.json " + words).exit, 0);
    std::string all;
    const json details = json_of(to + "/e.json");
    for (const auto& one : details["inputs"]) all += one.get<std::string>();
    std::erase(all, '\n');
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  EXPECT_EQ(inputs("--data dev"), "b");
  EXPECT_EQ(inputs("--data test"), "c");
  EXPECT_EQ(inputs(""), "c");
  EXPECT_EQ(inputs("--data " + scratch.write("other.txt", "aaaabbbb\naaaabbbb\n")), "ab");
}

}  // namespace
}  // namespace fovea::test
