// Every option of every verb with values that nobody means: the program works, or refuses in one
// sentence; no signal, no hang, nothing half written. The options come from the program's own help.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "fovea/base/error.h"
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
    return run("cd " + folder + " && timeout 30 " + program + " " + words + " </dev/null", true);
  }
};

std::vector<std::string> options_of_help(const Place& place, const std::string& verb) {
  Ended help = place.run_here(verb + " --help-all");
  if (help.exit != 0) help = place.run_here(verb + " --help");
  std::vector<std::string> options;
  std::set<std::string> seen{"--help", "--help-all", "--version"};
  const std::regex flag("(^|[ ,])(--[a-z][a-z0-9-]*)");
  for (std::sregex_iterator i(help.out.begin(), help.out.end(), flag), end; i != end; ++i) {
    if (seen.insert((*i)[2]).second) options.push_back((*i)[2]);
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

// tried: (verb or task)-independent names already tried with every value, so that what all tasks
// share is tried once.
void try_options(const Place& place, const std::string& verb, const std::string& words,
                 std::set<std::string>& tried) {
  const std::vector<std::string> options = options_of_help(place, verb);
  EXPECT_FALSE(options.empty()) << verb;
  for (const std::string& option : options) {
    if (!tried.insert(option).second) continue;
    for (const std::string& value : odd_values) {
      fs::remove_all(place.folder + "/out");
      const std::string line = verb + " " + words + " " + option + "=" + value;
      expect_sane(place.run_here(line), line);
      const bool begun = fs::exists(place.folder + "/out");
      EXPECT_TRUE(!begun || fs::exists(place.folder + "/out/config.json") ||
                  fs::exists(place.folder + "/out/comparison.json"))
          << line << ": left a folder that is neither a model's nor a comparison's";
    }
  }
}

// All options of all tasks, with this in the environment; else each option at one task.
bool all() { return std::getenv("FOVEA_ALL_OPTIONS") != nullptr; }

const std::string small = "--examples 60 --steps 1 --time 1s --width 8 --out out";

TEST(OddOptions, OfTraining) {
  const Place place;
  std::set<std::string> tried{"--time", "--threads"};
  for (const auto& [task, words] :
       std::vector<std::pair<std::string, std::string>>{{"classify", "--data builtin:sentiment"},
                                                        {"label", "--data builtin:tags"},
                                                        {"translate", "--data builtin:dates"},
                                                        {"lm", "--data builtin:dates --context 16"},
                                                        {"mlm", "--data builtin:tags"}}) {
    if (all()) tried = {"--time"};
    try_options(place, "train " + task, words + " " + small, tried);
    if (task == "classify") {
      try_options(place, "train classify --model transformer", words + " " + small, tried);
    }
  }
  try_options(place, "train regress", "--data builtin:sine --examples 60 --steps 1 --out out",
              tried);
}

TEST(OddOptions, OfUsingAModel) {
  const Place place;
  ASSERT_EQ(place
                .run_here("train translate --data builtin:dates --examples 60 --steps 1 --width 8 "
                          "--out model")
                .exit,
            0);
  std::ofstream(place.folder + "/pairs") << "3 May 2010\t2010-05-03\n";
  for (const auto& [verb, words] : std::vector<std::pair<std::string, std::string>>{
           {"eval", "model"},
           {"predict", "model"},
           {"attend", "model 3"},
           {"score", "model pairs"},
           {"list", ""},
           {"bench", "attention --keys 16 --heads 1 --seconds 0.001"}}) {
    std::set<std::string> tried{"--keys", "--heads", "--queries", "--batch"};  // may be large
    try_options(place, verb, words, tried);
  }
}

TEST(OddOptions, OfComparing) {
  const Place place;
  // What training has too is tried there.
  std::set<std::string> tried{"--time", "--threads"};
  for (const std::string& option : options_of_help(place, "train classify")) tried.insert(option);
  try_options(
      place, "compare classify",
      "--data builtin:sentiment --vary score=dot --examples 60 --steps 1 --width 8 --out out",
      tried);
}

}  // namespace
}  // namespace fovea::test
