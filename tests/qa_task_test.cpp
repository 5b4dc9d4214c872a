// qa from the command line: which questions are learned from and measured, and what is answered.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/base/random.h"
#include "fovea/base/words.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

// What a story says is random: who has seen some of its questions must not be asked the others.
TEST(QaTask, QuestionsOfOneStoryStayTogether) {
  const ScratchFolder scratch;
  Random random(5);
  const char* places[] = {"kitchen", "garden", "office", "hall", "cellar", "attic"};
  std::string text;
  for (int i = 0; i < 60; ++i) {
    const char* answer = places[random.below(6)];
    text += say("1 Something happened in house", i, ".\n");
    for (int q = 0; q < 5; ++q) text += say(q + 2, " Where was it?\t", answer, "\t1\n");
  }
  const Ended trained =
      run(program + " train qa --json --model memn2n --hops 1 --epochs 40 " +
          "--optimizer adam --rate 0.01 --early-stop 0 --data " + scratch.write("s.txt", text));
  ASSERT_EQ(trained.exit, 0) << trained.out;
  EXPECT_LT(nlohmann::json::parse(trained.out)["test"]["right_answers"], 0.6) << trained.out;
}

// Which of four towns is right, only the story says.
TEST(QaTask, ATransformerReadsTheStory) {
  const ScratchFolder scratch;
  Random random(5);
  const char* towns[] = {"Rome", "Oslo", "Paris", "Cairo"};
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const char *ann = towns[random.below(4)], *bob = towns[random.below(4)];
    text += say("Ann is in ", ann, ".\nBob is in ", bob, ".\nWhere is Ann?\t", ann,
                "\nWhere is Bob?\t", bob, "\n\n");
  }
  const std::string folder = scratch.path() + "/towns";
  const Ended trained =
      run(program + " train qa --json --model transformer --layers 1 --width 32 " +
          "--rate 0.003 --epochs 12 --data " + scratch.write("s.txt", text) + " --out " + folder);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  EXPECT_GT(nlohmann::json::parse(trained.out)["test"]["right_answers"], 0.9) << trained.out;
  const Ended seen = run(program + " attend " + folder + " 'Ann is in Oslo. Where is Ann?'");
  EXPECT_EQ(seen.exit, 0);
  EXPECT_NE(seen.out.find("oslo"), std::string::npos) << seen.out;
}

// Which two of eight things somebody holds, in the order in which they were taken. Of the 56
// answers some are only tested: they can be written, while no choice among those that training had
// can be.
TEST(QaTask, AnAnswerIsWrittenWordByWord) {
  const ScratchFolder scratch;
  Random random(5);
  const char* things[] = {"ball", "cup", "book", "coin", "hat", "key", "pen", "ring"};
  std::string train, test;
  for (int i = 0; i < 1200; ++i) {
    const auto a = random.below(8), b = (a + 1 + random.below(7)) % 8;
    auto& text = (a + 3 * b) % 8 == 5 ? test : train;
    text += say("1 Ann took the ", things[a], ".\n2 Bob went to Rome.\n3 Ann took the ", things[b],
                ".\n4 What holds Ann?\t", things[a], ",", things[b], "\t1 3\n");
  }
  const std::string files = " --data " + scratch.write("train.txt", train) + " --test " +
                            scratch.write("test.txt", test),
                    folder = scratch.path() + "/written";
  const std::string common = " train qa --json --model memnn --hops 2 --seed 1 --epochs 20" + files;
  const auto right = [](const Ended& trained) {
    EXPECT_EQ(trained.exit, 0) << trained.out;
    return nlohmann::json::parse(trained.out)["test"]["right_answers"].get<double>();
  };
  EXPECT_EQ(right(run(program + common + " --response words")), 0);
  EXPECT_GT(right(run(program + common + " --response lstm --out " + folder)), 0.9);
  const Ended told = run("printf 'Ann took the pen.\\nAnn took the cup.\\nWhat holds Ann?\\n' | " +
                         program + " predict " + folder + " --nbest 2 --json");
  EXPECT_EQ(told.exit, 0);
  EXPECT_NE(told.out.find("pen,cup"), std::string::npos) << told.out;
  std::filesystem::remove(folder + "/written.json");
  expect_refused(
      "eval " + folder, 1,
      folder + ": is of an earlier version, whose models chose their answers; train it " + "again");
}

// No answer that was learned from has an unknown word: however many are wanted, none is written.
TEST(QaTask, WrittenAnswersHaveNoUnknownWord) {
  const ScratchFolder s;
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const char* thing = i % 2 ? "cup" : "ball";
    text += say("1 Ann took the ", thing, ".\n2 What holds Ann?\t", thing, "\t1\n");
  }
  const std::string folder = s.path() + "/written";
  ASSERT_EQ(run(program + " train qa --model memnn --response lstm --width 8 --steps 1 --data " +
                s.write("s.txt", text) + " --out " + folder)
                .exit,
            0);
  const Ended told = run("printf 'Ann took the cup.\\nWhat holds Ann?\\n' | " + program +
                         " predict " + folder + " --nbest 8");
  EXPECT_EQ(told.exit, 0);
  EXPECT_NE(told.out.find("cup cup"), std::string::npos) << told.out;
  EXPECT_EQ(told.out.find("<unk>"), std::string::npos) << told.out;
}

// A file that marks some parts only: the others are held out.
TEST(QaTask, PartsThatAFileDoesNotMark) {
  const ScratchFolder scratch;
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += nlohmann::json{{"question", say("where is ", i % 4)},
                           {"answers", {say("place", i % 4)}},
                           {"memory", {{say("thing", i % 4), "is in", say("place", i % 4)}}},
                           {"split", i < 30 ? "train" : "test"}}
                .dump() +
            "\n";
  }
  const Ended trained =
      run(program + " train qa --json --model kv --hashed 512 --epochs 3 --data " +
              scratch.write("kv.jsonl", text),
          true);
  EXPECT_EQ(trained.exit, 0) << trained.out;
}

// A folder's train files were learned from; its test files measure.
TEST(QaTask, AFolderIsMeasuredOnItsTestFiles) {
  const ScratchFolder s;
  std::string train;
  for (int i = 0; i < 30; ++i) train += "1 Ann is here.\n2 Who is here?\tann\t1\n";
  s.write("qa1_train.txt", train);
  s.write("qa1_test.txt", "1 Bob is here.\n2 Who is here?\tcarol\t1\n");
  const std::string folder = s.path() + "/model";
  const Ended trained =
      run(program + " train qa --steps 3 --data " + s.path() + " --out " + folder, true);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  const Ended measured = run(program + " eval " + folder + " --json --data " + s.path());
  ASSERT_EQ(measured.exit, 0) << measured.out;
  EXPECT_EQ(nlohmann::json::parse(measured.out)["examples"], 1);
}

// What a file marks as test is not learned from because validation has a file of its own.
TEST(QaTask, MarksCountBesideAFileToValidateOn) {
  const ScratchFolder s;
  const auto line = [](const std::string& split) {
    return R"({"question": "Who is here?", "answer": "ann", "story": ["Ann is here."], "split": ")" +
           split + "\"}\n";
  };
  std::string all;
  for (int i = 0; i < 7; ++i) all += line("train");
  all += line("test") + line("test") + line("dev");
  const Ended trained = run(program + " train qa --steps 2 --data " + s.write("a.jsonl", all) +
                                " --dev " + s.write("dev.jsonl", line("") + line("")),
                            true);
  EXPECT_NE(trained.out.find("7 examples to learn from, 2 to validate on, 2 to test on"),
            std::string::npos)
      << trained.out;
}

TEST(QaTask, WhatCannotBeLearnedOrIsNotThereIsRefusedFirst) {
  const ScratchFolder s;
  std::string text;
  for (int i = 0; i < 30; ++i) text += "Ann is here.\nWho is here?\tann\t1\n\n";
  text += "Ann is here.\nWho is ill?\tann\n";
  const std::string data = s.write("a.txt", text);
  const Ended none = run(program + " train qa --model memnn --steps 9 --data " + data + " --dev " +
                             data + " --test " + data,
                         true);
  EXPECT_EQ(none.exit, 1);
  EXPECT_NE(none.out.find("memnn: learns from supporting facts, and 1 of 31 questions to learn "
                          "from have none, as 'who is ill?'"),
            std::string::npos)
      << none.out;
  expect_refused("train qa --steps 1 --data builtin:stories --tasks 1,42", 1,
                 "tasks: there is no question of the tasks '42'; there are 1, 2, 3");
  for (const char* words : {"--columns text=a", "--longest 9", "--no-times --noise 0.1",
                            "--model memnn --smoothing 0.1"}) {
    EXPECT_NE(run(program + " train qa --steps 1 --data builtin:stories " + words).exit, 0)
        << words;
  }
}

// An answer does not depend on what else is asked: memories in entries beside told ones.
TEST(KeyValues, MemoriesAreReadEachByItself) {
  const ScratchFolder s;
  std::string lines;
  for (int i = 0; i < 40; ++i) {
    const std::string film = say("film", i);
    const nlohmann::json memory{{{"key", {film, "stars"}}, {"value", {"ann", say("p", i)}}},
                                {{"key", {film, "year"}}, {"value", {"year", say(1900 + i)}}}};
    lines +=
        nlohmann::json{
            {"question", {film, "stars"}}, {"answers", {say("ann p", i)}}, {"memory", memory}}
            .dump() +
        "\n";
  }
  const std::string folder = s.path() + "/films";
  const Ended trained = run(program + " train qa --model kv --hashed 0 --epochs 30 --data " +
                                s.write("films.jsonl", lines) + " --out " + folder,
                            true);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  const std::string words = run("cat " + folder + "/words.json").out;
  EXPECT_NE(words.find("\"ann p7\""), std::string::npos) << "a candidate is no unknown word";
  const std::string first = lines.substr(0, lines.find('\n') + 1);
  const auto asked = [&](const std::string& text) {
    return run(program + " predict " + folder + " --scores --data " + s.write("asked", text)).out;
  };
  const std::string alone = asked("  " + first);  // JSON wherever it begins
  EXPECT_NE(alone.find("ann p"), std::string::npos) << alone;
  const std::string told = asked(first + "Ann is here.\nWho is here?\n");
  EXPECT_EQ(told.substr(0, alone.size()), alone);
  EXPECT_NE(told.find("(nothing remembered)"), std::string::npos) << told;
}

// A question that nothing is remembered for must not make a closed list of answers of the others':
// who was never seen could then not be the answer.
TEST(KeyValues, CandidatesAreTheValuesEvenWhereOneMemoryIsEmpty) {
  const ScratchFolder s;
  std::string lines = R"({"question": ["who", "directed", "film 0"], "answers": ["nobody"]})"
                      "\n";
  for (int i = 0; i < 60; ++i) {
    const std::string film = say("film ", i), person = say("person ", i);
    const nlohmann::json memory{{film, "directed_by", person}, {film, "year", say(1900 + i)}};
    lines +=
        nlohmann::json{
            {"question", {"who", "directed", film}}, {"answers", {person}}, {"memory", memory}}
            .dump() +
        "\n";
  }
  const std::string data = s.write("films.jsonl", lines), folder = s.path() + "/films";
  ASSERT_EQ(run(program + " train qa --model kv --min-count 10 --hashed 512 --epochs 20 --data " +
                data + " --out " + folder)
                .exit,
            0);
  const Ended answered =
      run(R"(echo '{"question": ["who", "directed", "alien"], "memory": )"
          R"([["alien", "year", "1979"], ["alien", "directed_by", "ridley scott"]]}' | )" +
          program + " predict " + folder);
  EXPECT_EQ(answered.out, "ridley scott\n");
}

}  // namespace
}  // namespace fovea::test
