// Every option of every verb with values that nobody means: the program works, or refuses in one
// sentence; no signal, no hang, nothing half written. The options come from the program's own
// tables and help.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "fovea/attention/catalog.h"
#include "fovea/base/error.h"
#include "fovea/task/config.h"
#include "fovea/task/solver.h"
#include "support/program.h"

namespace fovea::test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> odd_values{
    "-1",  "0",   "1",  "1e18", "9223372036854775807", "98765432109876543210",
    "nan", "inf", "''", "word", "/no/such/path"};

// What every value is tried with: a trained model, and a folder to be in.
struct Place {
  std::string folder =
      testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name();
  Place() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  Ended run_here(const std::string& words) const {
    return run("cd " + folder + " && ulimit -t 30 && " +
                   (words.starts_with("bench") ? no_leak_check : "") + "timeout 300 " + program +
                   " " + words + " </dev/null",
               true);
  }
};

std::vector<std::string> options_of_help(const Place& place, const std::string& verb) {
  Ended help = place.run_here(verb + " --help-all");
  if (help.exit != 0) help = place.run_here(verb + " --help");
  std::vector<std::string> options;
  std::set<std::string> seen{"--help", "--help-all", "--version"};
  const std::regex flag("(^|[ ,])--(\\[no-\\])?([a-z][a-z0-9-]*)");
  for (std::sregex_iterator i(help.out.begin(), help.out.end(), flag), end; i != end; ++i) {
    if (seen.insert("--" + (*i)[3].str()).second) options.push_back("--" + (*i)[3].str());
  }
  return options;
}

// One sentence that a person wrote.
void expect_sane(const Ended& ended, const std::string& words) {
  EXPECT_TRUE(ended.exit >= 0 && ended.exit <= 2) << words << "\nended with " << ended.exit;
  for (const char* library : {"std::", "terminate", "what()", "basic_string", "bad_alloc",
                              "vector::", "json.exception", "stoi", "Assertion"}) {
    EXPECT_EQ(ended.out.find(library), std::string::npos) << words << "\n" << ended.out;
  }
  if (ended.exit == 0) return;
  const size_t at = ended.out.rfind("fovea: ");
  ASSERT_NE(at, std::string::npos) << words << "\n" << ended.out;
  EXPECT_EQ(ended.out.find('\n', at) + 1, ended.out.size()) << words << "\n" << ended.out;
}

// The words with the option, with every value.
void try_values(const Place& place, const std::string& words, const std::string& option) {
  for (const std::string& value : odd_values) {
    fs::remove_all(place.folder + "/out");
    const std::string line = words + " " + option + "=" + value;
    expect_sane(place.run_here(line), line);
    const bool begun = fs::exists(place.folder + "/out");
    const auto holds = [&](const char* file) { return fs::exists(place.folder + "/out/" + file); };
    EXPECT_TRUE(!begun || holds("config.json") || holds("comparison.json") || holds("arena.json"))
        << line << ": left a folder that is neither a model's nor a comparison's";
  }
}

void try_options(const Place& place, const std::string& verb, const std::string& words,
                 const std::set<std::string>& but) {
  const std::vector<std::string> options = options_of_help(place, verb);
  EXPECT_FALSE(options.empty()) << verb;
  for (const std::string& option : options) {
    if (!but.contains(option)) try_values(place, verb + " " + words, option);
  }
}

// All options of all tasks, with this in the environment; else each option at one task.
bool all() { return std::getenv("FOVEA_ALL_OPTIONS") != nullptr; }

std::string words_of(const Settings& settings, const std::string& but) {
  std::string words;
  for (const auto& [name, value] : settings) {
    if (name != but) words += " --set " + name + "=" + value;
  }
  return words;
}

// For every option that a task can be told the first settings under which it counts. They are found
// by choosing every model, and then everything else that can be chosen by name.
std::vector<std::pair<std::string, Settings>> options_with_settings(const Task& task) {
  std::vector<std::pair<std::string, Settings>> found;
  std::set<std::string> seen;
  const auto look = [&](const Settings& said) {
    std::vector<FieldInfo> fields;
    try {
      for (const OptionGroup& group : options_of(task, said)) {
        fields.insert(fields.end(), group.fields.begin(), group.fields.end());
      }
    } catch (const Error&) {  // two choices that do not go together
    }
    for (const FieldInfo& field : fields) {
      if (seen.insert(field.name).second) found.emplace_back(field.name, said);
    }
    return fields;
  };
  const auto catalogued = [](Entry::Kind kind) {
    std::vector<std::string> names;
    for (const Entry& entry : catalog()) {
      if (entry.kind == kind) names.push_back(entry.name);
    }
    return names;
  };
  const Settings plain{{"data", "builtin:" + task.builtin[0].name}};
  std::vector<std::string> names;
  for (const FieldInfo& field : look(plain)) {
    if (field.name == "model") names = field.range.choices;
  }
  for (const std::string& name : names) {
    Settings said = plain;
    said.set("model", name);
    for (const FieldInfo& field : look(said)) {
      std::vector<std::string> choices = field.range.choices;
      if (field.name == "score") choices = catalogued(Entry::Kind::score);
      if (field.name == "align") choices = catalogued(Entry::Kind::alignment);
      if (field.name == "query") choices = catalogued(Entry::Kind::query);
      for (const std::string& choice : choices) {
        if (field.name == "model") continue;
        Settings more = said;
        more.set(field.name, choice);
        look(more);
      }
    }
  }
  return found;
}

TEST(OddOptions, OfTraining) {
  const Place place;
  std::set<std::string> tried;
  for (const Task& task : tasks()) {
    int64_t options = 0;
    for (const auto& [option, settings] : options_with_settings(task)) {
      ++options;
      if (!all() && !tried.insert(option).second) continue;
      // Little of everything, but for what is tried.
      Settings said = settings;
      said.set(Settings{{"examples", "40"}, {"steps", "1"}});
      std::string flag = option;
      std::ranges::replace(flag, '_', '-');
      try_values(place, "train " + task.name + words_of(said, option) + " --out out", "--" + flag);
    }
    EXPECT_GT(options, 30) << task.name;
  }
  // What is no option of a run.
  const std::string words = "train classify --data builtin:sentiment --examples 40 --steps 1";
  for (const char* option : {"--out", "--resume", "--json", "--preset", "--set", "--no-suit"}) {
    try_values(place, words + (option == std::string("--out") ? "" : " --out out"), option);
  }
}

TEST(OddOptions, OfUsingAModel) {
  const Place place;
  std::ofstream(place.folder + "/pairs") << "3 May 2010\t2010-05-03\n";
  for (const Task& task : tasks()) {
    if (!all() && task.name != "translate") continue;
    ASSERT_EQ(place
                  .run_here("train " + task.name + " --data builtin:" + task.builtin[0].name +
                            " --examples 60 --steps 1 --out " + task.name)
                  .exit,
              0);
    for (const auto& [verb, words] : std::vector<std::pair<std::string, std::string>>{
             {"eval", ""}, {"predict", ""}, {"attend", " 3"}, {"score", " pairs"}, {"info", ""}}) {
      try_options(place, verb, task.name + words, {});
    }
  }
  // Sizes may be large: those of a benchmark are checked by their ranges.
  try_options(place, "bench", "attention --keys 16 --heads 1 --seconds 0.001",
              {"--keys", "--heads", "--queries", "--batch", "--features", "--seconds"});
  for (const char* option :
       {"--keys", "--heads", "--queries", "--batch", "--features", "--seconds"}) {
    for (const std::string& value : odd_values) {
      if (value == "1") continue;
      const std::string line = say("bench attention ", option, "=", value);
      const Ended ended = place.run_here(line);
      expect_sane(ended, line);
      EXPECT_EQ(ended.exit, 2) << line;
    }
  }
  try_options(place, "list", "", {});
}

// Values that once ended in a signal, a corrupted heap, the words of a library or, in silence, in
// another run than was asked for.
TEST(OddOptions, ThatOnceCrashed) {
  const Place place;
  for (const char* words :
       {"translate --data builtin:dates --beam=0", "lm --data builtin:dates --batch=0",
        "classify --data builtin:sentiment --longest=-1",
        "classify --data builtin:sentiment --batch=9223372036854775807",
        "classify --data builtin:sentiment --steps=0"}) {
    const std::string line = std::string("train ") + words + " --examples 40 --out out";
    const Ended ended = place.run_here(line);
    expect_sane(ended, line);
    EXPECT_EQ(ended.exit, 2) << line << "\n" << ended.out;
  }
  std::ofstream(place.folder + "/french") << "L'été, là-bas, où ça brûle.\nÀ Noël, déjà.\n";
  const std::string bytes =
      "compare lm --data french --tokens bytes --vary width=8 --context 4 --steps 1 --out out";
  const Ended ended = place.run_here(bytes);
  EXPECT_EQ(ended.exit, 0) << ended.out;
  EXPECT_EQ(ended.out.find("json"), ended.out.npos) << ended.out;
}

TEST(OddOptions, OfComparing) {
  const Place place;
  // What training has too is tried there.
  std::set<std::string> tried{"--time"};
  for (const std::string& option : options_of_help(place, "train classify")) {
    if (!all()) tried.insert(option);
  }
  tried.erase("--out");
  const std::string words =
      "--data builtin:sentiment --vary score=dot --examples 40 --steps 1 --width 8";
  try_options(place, "compare classify", words + " --out out", tried);
  // A choice's values go the same way as an option's.
  const std::string said = "compare classify --data builtin:sentiment --examples 40 --steps 1 ";
  for (const char* choice : {"--vary width", "--choice score=dot,width", "--vary model",
                             "--vary rate", "--choice seed", "--vary"}) {
    try_values(place, said + "--seeds 1 --maps 0 --out out", choice);
  }
}

TEST(OddOptions, OfTheArena) {
  const Place place;
  const std::string words =
      "--tasks listops --attention window --set examples=20 --set longest=64 --steps 1";
  for (const std::string& option : options_of_help(place, "arena")) {
    const bool out = option == "--out";
    try_values(place, "arena " + words + (out ? "" : " --out out"), option);
  }
  // Refused words take nothing away that was there before.
  fs::create_directories(place.folder + "/kept");
  EXPECT_EQ(place.run_here("arena " + words + " --set nosuch=1 --out kept").exit, 2);
  EXPECT_TRUE(fs::is_empty(place.folder + "/kept"));
}

TEST(OddOptions, OfManyMachinesAndOfShells) {
  const Place place;
  for (const char* option : {"--size", "--ranks", "--network"}) {
    for (const std::string& value : odd_values) {
      const std::string line =
          say("bench scale --seconds 0.01 ", option == std::string("--size") ? "" : "--size 1x16 ",
              option, "=", value);
      expect_sane(place.run_here(line), line);
    }
  }
  for (const std::string& value : odd_values) {
    for (const char* verb : {"completion", "man", "list", "bench", "train", "eval", "info"}) {
      const std::string line = say(verb, " ", value);
      expect_sane(place.run_here(line), line);
    }
  }
}

TEST(OddOptions, OfFitting) {
  const Place place;
  std::ofstream file(place.folder + "/rows.tsv");
  file << "label\ttext\n";
  for (int i = 0; i < 30; ++i) file << (i % 2 ? "good\tfine " : "bad\tpoor ") << i << "\n";
  file.close();
  for (const std::string& option : options_of_help(place, "fit")) {
    const std::string time = option == "--time" ? "" : " --time 2s";
    try_values(place, "fit rows.tsv --out out" + time, option);
  }
}

}  // namespace
}  // namespace fovea::test
