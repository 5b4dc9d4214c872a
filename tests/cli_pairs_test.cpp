// pair and aspect from the outside: they learn, are measured, answer and show.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

TEST(Pairs, EveryModelLearnsIsMeasuredAnswersAndShows) {
  const ScratchFolder scratch;
  const std::string question = "where does anna live ?\tanna lives in rome",
                    aspect = "the food is great\tfood";
  struct Case {
    std::string words, input, metric;
    size_t maps;
  };
  const std::vector<Case> cases{
      {"pair --data builtin:answers", question, "mrr", 2},
      {"pair --data builtin:answers --model parallel --pooled", question, "map", 2},
      {"pair --data builtin:answers --model alternating", question, "precision_at_1", 2},
      {"pair --data builtin:answers --model siamese", question, "accuracy", 2},
      {"aspect --data builtin:aspects --model interactive", aspect, "macro_f1", 2},
      {"aspect --data builtin:aspects --model rotatory --hops 2", aspect, "accuracy", 4},
      {"aspect --data builtin:aspects --model rnn --score none", aspect, "accuracy", 0}};
  for (const auto& [words, input, metric, maps] : cases) {
    SCOPED_TRACE(words);
    const std::string folder = scratch.path() + "/run";
    const Ended trained =
        run(program + " train " + words +
            " --examples 120 --embed 8 --width 8 --steps 8 --json --out " + folder);
    ASSERT_EQ(trained.exit, 0) << trained.out;
    EXPECT_TRUE(nlohmann::json::parse(trained.out)["test"].contains(metric)) << trained.out;
    const Ended answers = run("printf '" + input + "\\n\\n" + input + "\\n' | " + program +
                              " predict " + folder + " --scores");
    EXPECT_EQ(answers.exit, 0);
    EXPECT_NE(answers.out.find("\n\n"), std::string::npos) << "a blank line stays blank";
    const Ended shown = run(program + " attend " + folder + " '" + input + "' --json");
    ASSERT_EQ(shown.exit, maps == 0 ? 1 : 0);  // without attention there is nothing to show
    if (maps > 0) {
      EXPECT_EQ(nlohmann::json::parse(shown.out)["maps"].size(), maps);
    }
    std::filesystem::remove_all(folder);
  }
}

TEST(Pairs, QuestionsOutOfATable) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/run";
  const std::string table =
      scratch.write("data.tsv",
                    "gold\tone\ttwo\nyes\ta b\tc d\nno\te f\tg h\nyes\ta a\tc c\nno\te e\tg g\n"
                    "yes\tb b\td d\nno\tf f\th h\n");
  ASSERT_EQ(run(program + " train pair --data " + table +
                " --columns label=gold,a=one,b=two --embed 4 --width 4 --steps 2 --out " + folder)
                .exit,
            0);
  const Ended answers =
      run(program + " predict " + folder + " --data " + table + " --columns a=one,b=two");
  EXPECT_EQ(answers.exit, 0);
  EXPECT_EQ(std::ranges::count(answers.out, '\n'), 6) << answers.out;
}

TEST(Pairs, BadInputIsOneSentence) {
  const ScratchFolder scratch;
  const std::string table = scratch.write("data.tsv", "label\tsentence1\nyes\ta b\nno\tc d\n");
  const Ended missing = run(program + " train pair --data " + table + " --steps 1", true);
  EXPECT_EQ(missing.exit, 1);
  EXPECT_NE(missing.out.find("data.tsv"), std::string::npos) << missing.out;
  const std::string aspects =
      scratch.write("aspects.tsv", "label\ttext\tphrase\n1\tgood food\tfood\n0\tbad wine\tbeer\n");
  const Ended absent = run(program + " train aspect --data " + aspects + " --steps 1", true);
  EXPECT_EQ(absent.exit, 1);
  EXPECT_NE(absent.out.find("aspects.tsv:3: the phrase 'beer' is not in its sentence"),
            std::string::npos)
      << absent.out;
  const std::string folder = scratch.path() + "/run";
  ASSERT_EQ(
      run(program + " train aspect --data builtin:aspects --examples 60 --embed 4 --width 4 " +
          "--steps 1 --out " + folder)
          .exit,
      0);
  const Ended no_phrase = run("echo 'only a sentence' | " + program + " predict " + folder, true);
  EXPECT_NE(no_phrase.out.find("needs a sentence, a tab and its phrase"), std::string::npos)
      << no_phrase.out;
}

}  // namespace
}  // namespace fovea::test
