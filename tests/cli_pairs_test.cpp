// pair and aspect from the outside: they learn, are measured, answer and show.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
      // Both sides, and a matrix of pairs.
      {"pair --data builtin:answers", question, "mrr", 3},
      {"pair --data builtin:answers --model parallel --pooled", question, "map", 3},
      {"pair --data builtin:answers --model alternating", question, "precision_at_1", 3},
      {"pair --data builtin:answers --model siamese", question, "accuracy", 3},
      {"pair --data builtin:answers --model multi_grained", question, "accuracy", 5},
      // Of a Transformer the heads of both texts too.
      {"pair --data builtin:answers --encoder transformer --heads 2", question, "accuracy", 7},
      {"pair --data builtin:records", "she feels her heart race\t90,?,100,120", "accuracy", 3},
      {"aspect --data builtin:aspects --model interactive", aspect, "macro_f1", 2},
      {"aspect --data builtin:aspects --model parallel", aspect, "macro_f1", 3},
      // Left, right, phrase by left and by right, and all four over the sentence.
      {"aspect --data builtin:aspects --model rotatory --hops 2", aspect, "accuracy", 5},
      {"aspect --data builtin:aspects --model rnn --score none", aspect, "accuracy", 0}};
  for (const auto& [words, input, metric, maps] : cases) {
    SCOPED_TRACE(words);
    const std::string folder = scratch.path() + "/run";
    const Ended trained = run(program + " train " + words +
                              (words.find("transformer") == std::string::npos ? " --embed 8" : "") +
                              " --examples 120 --width 8 --steps 8 --json --out " + folder);
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

TEST(Pairs, ANoteWithItsRecord) {
  const ScratchFolder scratch;
  std::string rows = "age,pulse,outcome,note\n";
  for (int i = 0; i < 40; ++i) {
    rows += say(20 + i, ",", i % 7 == 3 ? "" : std::to_string(60 + i), ",", i % 2 ? "ill" : "well",
                ",came in with ", i % 3 ? "a cough" : "a headache", " for ", i, " days\n");
  }
  const std::string table = scratch.write("notes.csv", rows), folder = scratch.path() + "/run";
  const std::string train =
      program + " train pair --data " + table + " --embed 4 --width 4 --steps 3";
  const Ended told = run(train + " --out " + folder, true);
  ASSERT_EQ(told.exit, 0) << told.out;
  EXPECT_NE(told.out.find("numbers is column 1 'age' + column 2 'pulse'"), std::string::npos)
      << told.out;
  const auto lines = [&](const std::string& record) {
    return run("printf 'a cough\t" + record + "\n' | " + program + " predict " + folder, true);
  };
  EXPECT_EQ(lines("30,71").exit, 0);
  EXPECT_EQ(lines("30,?").exit, 0);
  EXPECT_NE(lines("30").out.find("needs 2 numbers"), std::string::npos);
  EXPECT_NE(lines("30,high").out.find("'high' is not a number"), std::string::npos);
  const Ended shown = run(program + " attend " + folder + " 'a cough\t30,71' --json");
  EXPECT_NE(shown.out.find("\"pulse\""), std::string::npos) << shown.out;
  EXPECT_EQ(
      run(train + " --columns label=outcome,a=note,numbers=pulse --out " + scratch.path() + "/one")
          .exit,
      0);
}

TEST(Pairs, SeveralSetsOfVectors) {
  const ScratchFolder scratch;
  std::string one, other;
  for (const char* word : {"good", "bad", "film", "not", "a"}) {
    one += say(word, " 0.1 0.2 0.3\n");
    other += say(word, " 0.4 0.5\n");
  }
  const std::string a = scratch.write("a.txt", one), b = scratch.write("b.vec", other);
  const auto train = [&](const std::string& words, const std::string& folder) {
    return run(program + " train " + words + " --examples 80 --steps 2 --vectors " + a + "," + b +
                   " --out " + scratch.path() + "/" + folder,
               true);
  };
  struct Case {
    std::string words, input, map;
  };
  const std::vector<Case> cases{
      {"classify --data builtin:sentiment --width 6 --contextual", "a film not good", "vectors"},
      {"classify --data builtin:sentiment --model transformer --heads 2 --width 6", "a film",
       "vectors"},
      {"classify --data builtin:sentiment --model hierarchical --width 6", "A film. Not good.",
       "vectors 2"},
      {"pair --data builtin:answers --width 6", "where is a\tfilm", "vectors 2"},
      {"aspect --data builtin:aspects --width 6", "the food is good\tfood", "vectors"}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.words);
    const std::string folder = std::to_string(std::hash<std::string>()(one.words));
    const Ended trained = train(one.words, folder);
    ASSERT_EQ(trained.exit, 0) << trained.out;
    const std::string at = scratch.path() + "/" + folder;
    const auto maps = nlohmann::json::parse(
        run("printf '" + one.input + "' | xargs -0 " + program + " attend " + at + " --json")
            .out)["maps"];
    const auto found =
        std::ranges::find_if(maps, [&](const auto& m) { return m["name"] == one.map; });
    ASSERT_NE(found, maps.end()) << maps.dump();
    EXPECT_EQ((*found)["queries"], (nlohmann::json{"a", "b"})) << "a row for each set";
  }
  EXPECT_EQ(train("label --data builtin:tags --width 6", "label").exit, 0);
  EXPECT_EQ(train("translate --data builtin:reverse --tokens words --width 6", "to").exit, 0);
  const Ended idle = run(
      program + " train classify --data builtin:sentiment --steps 1 --contextual --vectors " + a,
      true);
  EXPECT_EQ(idle.exit, 2) << "one set has nothing to weigh: " << idle.out;
}

TEST(Pairs, LettersThroughWords) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/run";
  const std::string train = program + " train translate --data builtin:reverse --examples 120 " +
                            "--model via --embed 8 --width 8 --letter-embed 4 --letter-width 4 " +
                            "--score-width 8 --steps 6 ";
  ASSERT_EQ(run(train + "--json --out " + folder).exit, 0);
  const Ended answers = run("printf 'a neverseen b\n\na\n' | " + program + " predict " + folder);
  EXPECT_EQ(answers.exit, 0);
  EXPECT_EQ(answers.out.find("<unk>"), std::string::npos);
  const auto maps =
      nlohmann::json::parse(run(program + " attend " + folder + " 'ab cd' --json").out)["maps"];
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[0]["keys"], (nlohmann::json{"ab", "cd"}));
  EXPECT_EQ(maps[1]["keys"], (nlohmann::json{"a", "b", "c", "d"}));
  const Ended no_words = run(train + "--tokens chars", true);
  EXPECT_NE(no_words.exit, 0);
  EXPECT_NE(no_words.out.find("reads words and their letters"), std::string::npos) << no_words.out;
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

TEST(Pairs, PhrasesFromAPipe) {
  const ScratchFolder scratch;
  std::string three;
  for (int i = 0; i < 30; ++i) {
    three += say("the $T$ of day ", i, " was ", i % 2 ? "good" : "bad", "\nfood\n", i % 2, "\n");
  }
  const std::string path = scratch.write("three.txt", three);
  const Ended trained =
      run("cat " + path + " | " + program + " train aspect --data - --embed 4 --width 4 --steps 1" +
              " --out " + scratch.path() + "/run",
          true);
  EXPECT_EQ(trained.exit, 0) << trained.out;
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
  const std::string twice = scratch.write("twice.txt", "good 1 2\nbad 1 2\ngood 3 4\n"),
                    two_widths = scratch.write("widths.txt", "good 1 2\nbad 1 2 3\n");
  const auto with_vectors = [&](const std::string& file) {
    return run(program + " train classify --data builtin:sentiment --steps 1 --vectors " + file,
               true)
        .out;
  };
  EXPECT_NE(with_vectors(twice).find("twice.txt:3: the word 'good' has a vector already"),
            std::string::npos)
      << with_vectors(twice);
  EXPECT_NE(with_vectors(two_widths).find("widths.txt:2: has 3 numbers"), std::string::npos)
      << with_vectors(two_widths);
  const std::string blank = scratch.write("blank.tsv", "label\ttext\nyes\tgood\nno\t \nno\tbad\n");
  const Ended empty =
      run(program + " train classify --model hierarchical --steps 1 --data " + blank, true);
  EXPECT_EQ(empty.exit, 1);
  EXPECT_NE(empty.out.find("blank.tsv:3"), std::string::npos) << empty.out;
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
