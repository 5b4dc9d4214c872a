// What the program says of itself and of a model's folder: help, completions, info, reports.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/task/class_report.h"
#include "fovea/task/solver.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using nlohmann::json;

const std::string small = " --embed 8 --width 12 --score-width 8 ";

size_t widest(const std::string& text) {
  size_t most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) most = std::max(most, code_points(line).size());
  return most;
}

TEST(Help, IsShortFirstAndFitsATerminal) {
  for (const Task& task : tasks()) {
    const Ended some = run(program + " train " + task.name + " --help"),
                all = run(program + " train " + task.name + " --help-all");
    EXPECT_EQ(some.exit, 0);
    EXPECT_LE(widest(some.out), 80u) << some.out;
    EXPECT_LE(widest(all.out), 80u) << all.out;
    EXPECT_LE(std::ranges::count(some.out, '\n'), 75) << some.out;
    EXPECT_LT(some.out.size(), all.out.size());
    EXPECT_EQ(all.out.find("{false}"), std::string::npos);
    EXPECT_NE(all.out.find("--[no-]"), std::string::npos);
    EXPECT_EQ(run(program + " help train " + task.name).out, some.out);
  }
  const std::string lm = run(program + " train lm --help").out,
                    label = run(program + " train label --help").out;
  EXPECT_NE(lm.find("(chars)"), std::string::npos) << "the defaults are the task's own";
  EXPECT_NE(label.find("(auto)"), std::string::npos);
  const Ended bare = run(program);
  EXPECT_EQ(bare.exit, 0);
  EXPECT_EQ(bare.out, run(program + " --help").out);
  for (const char* verb : {"train", "eval", "predict", "attend", "compare", "list", "info"}) {
    EXPECT_NE(bare.out.find(say("fovea ", verb)), std::string::npos);
    EXPECT_EQ(run(say(program, " help ", verb)).exit, 0);
  }
}

TEST(Help, ShowsOnlyTheOptionsThatCountForTheModel) {
  const auto help = [](const std::string& words) {
    const Ended ended = run(program + " train " + words);
    EXPECT_EQ(ended.exit, 0) << words;
    return ended.out;
  };
  const auto shows = [](const std::string& text, const std::string& flag) {
    return text.find("  " + flag + " ") != text.npos;
  };
  // Of a recurrent model and of a Transformer, in all that there is and in what most people need.
  const std::string rnn = help("translate --model rnn --help-all"),
                    transformer = help("translate --model transformer --help-all"),
                    short_rnn = help("translate --model rnn --help"),
                    short_transformer = help("translate --model transformer --help");
  EXPECT_TRUE(shows(rnn, "--cell") && shows(rnn, "--embed"));
  EXPECT_FALSE(shows(rnn, "--hidden") || shows(rnn, "--heads"));
  EXPECT_TRUE(shows(transformer, "--hidden") && shows(transformer, "--heads"));
  EXPECT_FALSE(shows(transformer, "--cell") || shows(transformer, "--embed"));
  EXPECT_TRUE(shows(short_rnn, "--embed") && !shows(short_rnn, "--heads"));
  EXPECT_TRUE(shows(short_transformer, "--heads") && !shows(short_transformer, "--embed"));
  EXPECT_FALSE(shows(short_transformer, "--cell"));
  // Mechanisms bring theirs, and so does the task's own model where none is named.
  EXPECT_TRUE(shows(help("translate --model rnn --align entmax --help-all"), "--alpha"));
  EXPECT_FALSE(shows(rnn, "--alpha"));
  EXPECT_EQ(help("translate --help-all"), rnn);
}

TEST(Help, SaysNumbersRangesAndDefaultsAsPeopleDo) {
  for (const char* verb :
       {"fit", "eval", "predict", "attend", "compare", "score", "info", "bench"}) {
    const std::string help = run(say(program, " ", verb, " --help")).out;
    EXPECT_LE(widest(help), 80u) << help;
    for (const char* type : {"INT", "FLOAT", " in ["}) {
      EXPECT_EQ(help.find(type), std::string::npos) << type << "\n" << help;
    }
  }
  EXPECT_NE(run(program + " fit --help").out.find("(5m)"), std::string::npos);
  EXPECT_NE(run(program + " compare --help").out.find("from 1 to"), std::string::npos);
}

TEST(Help, ShellsCompleteWhatTheTableHas) {
  const ScratchFolder s;
  const std::string script = s.write("fovea.bash", run(program + " completion bash").out);
  const auto completed = [&](const std::string& words, int at) {
    return run("bash -c '. " + script + "; COMP_WORDS=(" + words +
               "); COMP_CWORD=" + std::to_string(at) + "; _fovea; echo ${COMPREPLY[@]}'")
        .out;
  };
  EXPECT_EQ(completed("fovea tr", 1), "train\n");
  EXPECT_EQ(completed("fovea train cl", 2), "classify\n");
  EXPECT_EQ(completed("fovea train classify --bidi", 3), "--bidirectional\n");
  EXPECT_EQ(completed("fovea train classify --no-bidi", 3), "--no-bidirectional\n");
  EXPECT_EQ(completed("fovea train classify --cell g", 4), "gru\n");
  for (const char* shell : {"zsh", "fish"}) {
    const std::string text = run(say(program, " completion ", shell)).out;
    EXPECT_NE(text.find("early-stop"), std::string::npos) << shell;
    EXPECT_NE(text.find("classify"), std::string::npos) << shell;
  }
  EXPECT_EQ(run(program + " completion csh", true).exit, 2);
  const std::string page = run(program + " man").out;
  EXPECT_TRUE(page.starts_with(".TH FOVEA 1"));
  for (const Task& task : tasks()) {
    EXPECT_NE(page.find("\n.B " + task.name + "\n"), std::string::npos);
  }
  EXPECT_NE(page.find("\\-\\-early\\-stop"), std::string::npos);
}

TEST(Info, SaysWhatAFolderHoldsWhereverItIs) {
  const ScratchFolder s;
  std::string rows = "category,review\n";
  for (int i = 0; i < 60; ++i) {
    rows += say(i % 3 == 0 ? "Good" : i % 3 == 1 ? "bad" : "good", ",it was number ", i, ".\n");
  }
  const std::string file = s.write("a.csv", rows), to = s.path() + "/m";
  const Ended trained =
      run(program + " train classify --data " + file + small + "--steps 4 --out " + to, true);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  for (const char* said :
       {"3 labels:", "labels that differ in case or spaces alone: 'Good', 'good'",
        "of the tokens to validate on are unknown", "precision", "truth \\ answer",
        "surest mistakes"}) {
    EXPECT_NE(trained.out.find(said), std::string::npos) << said << "\n" << trained.out;
  }
  const std::string moved = s.path() + "/elsewhere";
  std::filesystem::rename(to, moved);
  std::filesystem::remove(file);
  const Ended text = run(program + " info " + moved);
  ASSERT_EQ(text.exit, 0);
  const json info = json::parse(run(program + " info " + moved + " --json").out);
  EXPECT_EQ(info["task"], "classify");
  EXPECT_EQ(info["model"], "rnn");
  EXPECT_EQ(info["learned_from"]["labels"].size(), 3u);
  EXPECT_EQ(info["learned_from"]["train"].get<int>() + info["learned_from"]["dev"].get<int>() +
                info["learned_from"]["test"].get<int>(),
            60);
  EXPECT_EQ(info["options"]["width"], "12");
  EXPECT_EQ(info["options"]["steps"], "4");
  EXPECT_FALSE(info["options"].contains("rate")) << "only what differs from the defaults";
  EXPECT_TRUE(info["test"].contains("accuracy"));
  EXPECT_GT(info["parameters"], 100);
  EXPECT_GT(info["bytes"], 1000);
  EXPECT_TRUE(info.contains("ended"));
  EXPECT_EQ(info["tokens"]["kind"], "words");
  EXPECT_LE(widest(text.out), 80u) << text.out;
  EXPECT_NE(text.out.find("--width 12"), std::string::npos) << text.out;
  EXPECT_EQ(run("echo good | " + program + " predict " + moved).exit, 0);
}

TEST(ClassReport, CountsWhatIsMixedUp) {
  const ClassReport report = class_report(
      {{"a", "a", 0.9, "1"}, {"a", "b", 0.8, "2"}, {"b", "b", 0.7, "3"}, {"a", "c", 0.95, "4"}});
  ASSERT_EQ(report.classes.size(), 3u);
  EXPECT_EQ(report.classes[0].label, "a");
  EXPECT_DOUBLE_EQ(report.classes[0].precision(), 1);
  EXPECT_DOUBLE_EQ(report.classes[0].recall(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(report.classes[1].precision(), 0.5);
  EXPECT_DOUBLE_EQ(report.classes[1].f1(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(report.classes[2].f1(), 0);
  EXPECT_EQ(report.confusion[0], (std::vector<int64_t>{1, 1, 1}));
  ASSERT_EQ(report.mistakes.size(), 2u);
  EXPECT_EQ(report.mistakes[0].text, "4") << "the surest first";
  const ClassReport twice = class_report({{"a", "b", 0.9, "1"}, {"a", "b", 0.8, "1"}});
  EXPECT_EQ(twice.confusion[0][1], 2);
  EXPECT_EQ(twice.mistakes.size(), 1u) << "a text that comes twice is shown once";
}

// Small data is validated many times a second.
TEST(Progress, IsNotALineAValidationWhereThereIsNoTerminal) {
  const Ended ended = run(program + " train classify --data builtin:sentiment --examples 60" +
                              small + "--validate-every 1 --steps 50",
                          true);
  ASSERT_EQ(ended.exit, 0) << ended.out;
  int64_t lines = 0;
  std::istringstream in(ended.out);
  for (std::string line; std::getline(in, line);) {
    lines += line.starts_with("step ") && line.find("  epoch ") != std::string::npos;
  }
  const size_t at = ended.out.find("50 steps in ");
  ASSERT_NE(at, std::string::npos);
  int minutes = 0, seconds = 0;
  ASSERT_EQ(std::sscanf(ended.out.c_str() + at, "50 steps in %d:%d", &minutes, &seconds), 2);
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 3 + (60 * minutes + seconds) / 10) << ended.out;
}

TEST(Train, ALanguageModelIsMeasuredInBitsPerByteToo) {
  const Ended ended = run(program +
                          " train lm --data builtin:dates --examples 60 --width 12 --heads 2 "
                          "--context 16 --tokens bytes --steps 2 --json");
  ASSERT_EQ(ended.exit, 0);
  const json test = json::parse(ended.out)["test"];
  EXPECT_NEAR(test["bits_per_byte"].get<double>(), test["loss"].get<double>() / std::log(2.0), 1e-6)
      << "of bytes each is a token";
}

std::string bytes_of(const std::string& folder) {
  std::string all;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry);
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    all += path.filename().string() + std::string(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

// Another value that the field may have.
std::string another(const FieldInfo& field, const std::string& now) {
  if (field.kind == FieldInfo::Kind::flag) return now == "true" ? "false" : "true";
  for (const std::string& choice : field.range.choices) {
    if (choice != now) return choice;
  }
  for (const char* text : {"1", "2", "7", "0.5", "0.25", "0", "17", "1000"}) {
    if (text == now) continue;
    try {
      if (field.kind == FieldInfo::Kind::text) return field.name == "time" ? "1s" : "other";
      field.check_text(text);
      return text;
    } catch (const Error&) {
    }
  }
  return "";
}

// As small as the task's first built-in data and its model allow.
std::string train_small(const Task& task, const std::string& to) {
  std::string words = program + " train " + task.name + " --data builtin:" + task.builtin[0].name +
                      " --steps 2 --out " + to;
  for (const OptionGroup& group : options_of(task, {})) {
    for (const FieldInfo& field : group.fields) {
      if (field.name == "examples") words += " --examples 60";
      if (field.name == "width") words += " --width 16";
    }
  }
  return words;
}

// An option that several tasks have is tried with the first of them.
TEST(Resume, WithAnyOptionChangedIsRefusedOrHonouredAndDamagesNothing) {
  const ScratchFolder s;
  std::set<std::string> tried;
  const auto& may = resumable_options();
  for (const Task& task : tasks()) {
    if (task.builtin.empty()) continue;
    const std::string to = s.path() + "/" + task.name,
                      words = program + " train " + task.name + " --out " + to + " --resume";
    const Ended trained = run(train_small(task, to), true);
    ASSERT_EQ(trained.exit, 0) << trained.out;
    const Config config = load_config(to);
    const std::string before = bytes_of(to);
    for (const OptionGroup& group : options_of(task, config.settings)) {
      for (const FieldInfo& field : group.fields) {
        if (!tried.insert(field.name).second) continue;
        if (std::ranges::find(may, field.name) != may.end()) continue;
        const std::string value = another(field, config.settings.get(field.name));
        ASSERT_FALSE(value.empty()) << field.name;
        const Ended ended = run(words + " --set " + field.name + "=" + value, true);
        EXPECT_NE(ended.exit, 0) << field.name << "=" << value << ": " << ended.out;
        EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1) << ended.out;
        EXPECT_NE(ended.out.find(field.name), std::string::npos) << ended.out;
        EXPECT_TRUE(bytes_of(to) == before) << field.name << " has changed the folder";
      }
    }
  }
  EXPECT_GT(tried.size(), 60u);
  // What may change is honoured, written down, and leaves a model that answers.
  const std::string to = s.path() + "/classify";
  for (const std::string& name : may) {
    const std::string value = name == "time" ? "1s" : name == "steps" ? "3" : "2";
    const Ended ended = run(program + " train classify --out " + to + " --resume --set " + name +
                                "=" + (name == "tensorboard" ? "true" : value),
                            true);
    EXPECT_EQ(ended.exit, 0) << name << ": " << ended.out;
    EXPECT_EQ(run("echo good | " + program + " predict " + to).exit, 0) << name;
  }
  EXPECT_EQ(load_config(to).steps, 3);
}

}  // namespace
}  // namespace fovea::test
