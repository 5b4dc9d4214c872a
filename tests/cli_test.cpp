// The program as a person meets it: what it prints, where, and how it ends.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "fovea/kernel/simd.h"
#include "support/paths.h"
#include "support/program.h"

namespace fovea::test {
namespace {

std::string write_file(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(Program, TellsItsVersionAndWhatRuns) {
  const Ended version = run(program + " --version");
  EXPECT_EQ(version.exit, 0);
  EXPECT_TRUE(version.out.starts_with("fovea ")) << version.out;
  EXPECT_NE(version.out.find(kernel::simd_targets().front()), std::string::npos) << version.out;
  EXPECT_NE(run("FOVEA_THREADS=3 " + program + " --version").out.find("3 threads"),
            std::string::npos);
}

TEST(Program, RunsTheInstructionSetThatTheEnvironmentNames) {
  for (const std::string& target : kernel::simd_targets()) {
    const Ended forced = run("FOVEA_TARGET=" + target + " " + program + " --version");
    EXPECT_NE(forced.out.find("(" + target + ","), std::string::npos) << forced.out;
    // The names that the page for man gives.
    EXPECT_TRUE(target == "sse4" || target == "avx2" || target.starts_with("avx512") ||
                target.starts_with("neon"))
        << target;
  }
  const Ended unknown = run("FOVEA_TARGET=avx9 " + program + " --version", true);
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_NE(unknown.out.find("not 'avx9'"), std::string::npos) << unknown.out;
  EXPECT_EQ(run("FOVEA_THREADS=many " + program + " --version", true).exit, 1);
}

TEST(Program, SuggestsTheNearestName) {
  expect_refused("trian regress", 2, "unknown verb 'trian'; did you mean 'train'?");
  expect_refused("train regres", 2, "unknown task 'regres'; did you mean 'regress'?");
  expect_refused("train regress --sede 1", 2, "unknown option '--sede'; did you mean '--seed'?");
  expect_refused("train regress --data builtin:sin", 2,
                 "unknown built-in data 'sin'; did you mean 'sine'?");
}

TEST(Program, LearnsFromACsvFile) {
  std::string text = "a,b,target\n";
  for (int i = 0; i < 40; ++i) text += say(i % 7, ",", i % 5, ",", (i % 7) * 2, "\n");
  const std::string words =
      program + " train regress --json --data " + write_file("good.csv", text) + " --";
  double worst = 1e300;
  for (const char* score : {"model mean", "score kernel_given", "score kernel"}) {
    const Ended trained = run(words + score);
    ASSERT_EQ(trained.exit, 0) << score;
    const double rmse = nlohmann::json::parse(trained.out)["test"]["rmse"];
    EXPECT_LT(rmse, worst) << score;
    worst = rmse;
  }
}

TEST(Program, SaysWhereAFileIsWrong) {
  const std::string word = write_file("word.csv", "1,2\n1,3\n1,4\n1,5\n1,6\n1,7\n3,four\n");
  expect_refused("train regress --data " + word, 1,
                 word +
                     ":7: column 2 needs a number, got 'four'; mend it, or leave such rows out "
                     "with --skip-bad");
  const std::string ragged = write_file("ragged.csv", "1,2\n3,4,5\n");
  expect_refused("train regress --data " + ragged, 1,
                 ragged +
                     ":2: needs 2 columns as most rows have, got 3; mend it, or leave such rows "
                     "out with --skip-bad");
  const std::string one = write_file("one.csv", "1\n2\n");
  expect_refused("train regress --data " + one, 1,
                 one +
                     ": which column is the numbers cannot be told; say --columns "
                     "target=1,numbers=2. There is column 1 (1, 2)");
  const std::string empty = write_file("empty.csv", "");
  expect_refused("train regress --data " + empty, 1,
                 empty + ": is empty; needs rows with target, numbers");
  expect_refused("train regress --data /no/such/file", 1,
                 "/no/such/file: cannot be read: No such file or directory");
}

TEST(Program, ThePageOfMechanismsIsTheCatalogue) {
  std::ifstream file(golden_path("../../docs/mechanisms.md"));
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(page, run(program + " list --markdown").out)
      << "make it again: fovea list --markdown > docs/mechanisms.md";
}

TEST(Program, ListsTheCatalogue) {
  const auto list = nlohmann::json::parse(run(program + " list --json").out);
  EXPECT_GE(list.size(), 20u);
  for (const auto& entry : list) {
    for (const char* key :
         {"id", "name", "kind", "title", "paper", "equation", "options", "laws"}) {
      EXPECT_TRUE(entry.contains(key));
    }
  }
  const Ended text = run(program + " list");
  EXPECT_NE(text.out.find("additive"), std::string::npos);
  size_t longest = 0, column = 0;
  for (char c : text.out) longest = std::max(longest, column = c == '\n' ? 0 : column + 1);
  EXPECT_LE(longest, 80u) << "fits a terminal of 80 columns";
}

}  // namespace
}  // namespace fovea::test
