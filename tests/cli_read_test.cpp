// read from the outside: it learns, is measured, answers, scores and shows; and bad input.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fovea/data/passages.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using nlohmann::json;

const std::string span_line =
    "Anna Silva was born in Cape Town . Zoë lives in Oslo now .\tWhere was Anna Silva born ?";
const std::string cloze_line =
    "@entity1 visited @entity2 . @entity3 was called by @entity1 .\t@placeholder called @entity3 .";

// --- What pays: reading with attention, on data where counting and remembering do not help. ---

double measured(const std::string& words, const std::string& metric) {
  const Ended trained = run(program + " train read " + words + " --json");
  EXPECT_EQ(trained.exit, 0) << trained.out;
  return trained.exit == 0 ? json::parse(trained.out)["test"][metric].get<double>() : 0;
}

TEST(Reader, AttentionSumReadsClozesThatAPlainReaderCannot) {
  const std::string words = "--data builtin:cloze --steps 1000 --validate-examples 200 --seed 1";
  EXPECT_GE(measured(words, "right_answers"), 0.95);
  EXPECT_LT(measured(words + " --model rnn", "right_answers"), 0.6);
}

TEST(Reader, BidafFindsFacts) {
  EXPECT_GE(measured("--data builtin:facts --examples 8000 --width 16 --embed 24 --letters 8 "
                     "--dropout 0 --rate 0.01 --steps 300 --seed 1",
                     "answer_f1"),
            0.8);
}

TEST(Reader, EveryModelLearnsIsMeasuredAnswersScoresAndShows) {
  const ScratchFolder scratch;
  struct Case {
    std::string words, metric;
    bool span;
    size_t maps;
  };
  const std::string tiny = " --examples 60 --width 4 --steps 3";
  const std::vector<Case> cases{
      {"--data builtin:facts --embed 4 --letters 4", "answer_f1", true, 3},
      {"--data builtin:facts --model transformer --heads 2 --letters 4", "answer_em", true, 5},
      {"--data builtin:cloze --embed 4", "right_answers", false, 2},
      {"--data builtin:cloze --model attentive --embed 4", "right_answers", false, 2},
      {"--data builtin:cloze --model impatient --embed 4", "right_answers", false, 2},
      {"--data builtin:cloze --model stanford --embed 4", "right_answers", false, 2},
      {"--data builtin:cloze --model rnn --embed 4", "right_answers", false, 1}};
  for (const auto& [words, metric, span, maps] : cases) {
    SCOPED_TRACE(words);
    const std::string folder = scratch.path() + "/run";
    const Ended trained =
        run(program + " train read " + words + tiny + " --json --out " + folder, true);
    ASSERT_EQ(trained.exit, 0) << trained.out;
    const std::string line = span ? span_line : cloze_line;
    const std::string file = scratch.write("asked.txt", line + "\n\n" + line + "\n");
    const Ended answers = run(program + " predict " + folder + " --json --nbest 2 < " + file);
    EXPECT_EQ(answers.exit, 0);
    const json first = json::parse(answers.out.substr(0, answers.out.find('\n')));
    const std::string passage = line.substr(0, line.find('\t'));
    const auto begin = first["begin"].get<size_t>(), end = first["end"].get<size_t>();
    EXPECT_EQ(passage.substr(begin, end - begin), first["answer"]) << "the place is of the answer";
    EXPECT_GT(first["probability"].get<double>(), 0);
    EXPECT_EQ(first["answers"].size(), 2u);
    const Ended evaluated = run(program + " eval " + folder + " --json");
    ASSERT_EQ(evaluated.exit, 0);
    EXPECT_TRUE(json::parse(evaluated.out)["metrics"].contains(metric)) << evaluated.out;
    const std::string given =
        scratch.write("given.txt", line + "\t" + first["answer"].get<std::string>() + "\n");
    const Ended scored = run(program + " score " + folder + " " + given + " --json");
    ASSERT_EQ(scored.exit, 0);
    // A word that stands there twice is as likely as both together.
    EXPECT_GE(std::exp(json::parse(scored.out)["log_probability"].get<double>()),
              first["probability"].get<double>() * 0.999);
    const Ended shown = run(program + " attend " + folder + " \"" + line + "\" --json");
    ASSERT_EQ(shown.exit, 0);
    const json drawing = json::parse(shown.out);
    ASSERT_EQ(drawing["maps"].size(), maps) << shown.out.substr(0, 300);
    EXPECT_EQ(drawing["maps"][0]["name"], "answer");
    EXPECT_EQ(run(program + " attend " + folder + " \"" + line + "\"").exit, 0);
    std::filesystem::remove_all(folder);
  }
}

// A folder with a small model of facts, made once.
class FactsModel : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = new ScratchFolder;
    const Ended trained = run(program +
                                  " train read --data builtin:facts --examples 80 --embed 4 "
                                  "--width 4 --letters 4 --longest 40 --steps 3 --out " +
                                  folder(),
                              true);
    ASSERT_EQ(trained.exit, 0) << trained.out;
  }
  static void TearDownTestSuite() { delete scratch_; }
  static std::string folder() { return scratch_->path() + "/run"; }
  static ScratchFolder* scratch_;
};
ScratchFolder* FactsModel::scratch_ = nullptr;

TEST_F(FactsModel, AConversationTellsAPassageAndAsks) {
  const std::string file =
      scratch_->write("talk.txt",
                      "Ann lives in Oslo .\nBob lives in Rome .\nWhere does Ann live ?\n"
                      "Where does Bob live?\n\nEva sings .\nWho sings ?\n");
  const Ended said = run(program + " predict " + folder() + " < " + file);
  EXPECT_EQ(said.exit, 0);
  std::vector<std::string> lines(1);
  for (char c : said.out) c == '\n' ? lines.emplace_back() : lines.back() += c, void();
  ASSERT_EQ(lines.size(), 8u) << said.out;
  EXPECT_TRUE(lines[0].empty() && lines[1].empty() && lines[4].empty() && lines[5].empty());
  EXPECT_FALSE(lines[2].empty() || lines[3].empty() || lines[6].empty());
  const std::string passage = "Eva sings .";
  EXPECT_NE(passage.find(lines[6]), std::string::npos) << "a blank line begins another passage";
}

TEST_F(FactsModel, APassageFileThatAllLinesAskAbout) {
  const std::string passage =
      scratch_->write("passage.txt", "Zoë lives in Oslo .\n\nAnn lives in Rome .\n");
  const std::string asked = scratch_->write("asked.txt", "Where does Zoë live ?\nwho is Ann\n");
  const Ended said =
      run(program + " predict " + folder() + " --passage " + passage + " --json < " + asked);
  EXPECT_EQ(said.exit, 0);
  const json one = json::parse(said.out.substr(0, said.out.find('\n')));
  const std::string text = "Zoë lives in Oslo .\n\nAnn lives in Rome .\n";
  const auto begin = one["begin"].get<size_t>(), end = one["end"].get<size_t>();
  EXPECT_EQ(text.substr(begin, end - begin), one["answer"].get<std::string>());
  EXPECT_EQ(begin - one["char_begin"].get<size_t>(), begin > 2 ? 1u : 0u) << "ë has two bytes";
  EXPECT_EQ(
      run(program + " attend " + folder() + " 'Where does Zoë live ?' --passage " + passage).exit,
      0);
  const Ended absent =
      run("echo a | " + program + " predict " + folder() + " --passage nowhere.txt", true);
  EXPECT_EQ(absent.exit, 1);
  EXPECT_NE(absent.out.find("nowhere.txt"), std::string::npos) << absent.out;
}

TEST_F(FactsModel, APassageOfAHundredThousandWordsIsReadInWindows) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += i % 50 == 49 ? "word .\n" : "word ";
  const std::string passage = scratch_->write("long.txt", text + "Ann lives in Rome .");
  const Ended said = run("echo 'Where does Ann live ?' | " + program + " predict " + folder() +
                         " --json --passage " + passage);
  EXPECT_EQ(said.exit, 0);
  EXPECT_TRUE(json::parse(said.out)["begin"].is_number()) << said.out;
  EXPECT_EQ(run(program + " attend " + folder() + " 'Where does Ann live ?' --out " +
                scratch_->path() + "/a.svg --passage " + passage)
                .exit,
            0);
}

TEST_F(FactsModel, TablesOfQuestions) {
  const std::string table = scratch_->write(
      "asked.tsv", "context\tquery\nAnn lives in Oslo .\tWhere ?\nBob sings .\tWho ?\n");
  const Ended said = run(program + " predict " + folder() + " --tsv --data " + table +
                         " --columns passage=context,question=query");
  EXPECT_EQ(said.exit, 0);
  EXPECT_EQ(std::ranges::count(said.out, '\n'), 3);
  EXPECT_NE(said.out.find("line\trank\tanswer\tprobability\tbegin"), std::string::npos) << said.out;
}

TEST_F(FactsModel, WhatAsksNothingIsOneSentence) {
  const Ended said =
      run("printf 'a passage\\tWhat?\\n\\tWhat?\\n' | " + program + " predict " + folder(), true);
  EXPECT_EQ(said.exit, 1);
  EXPECT_NE(said.out.find("stdin:2: read: needs a passage, a tab and a question"),
            std::string::npos)
      << said.out;
  const Ended looked = run(program + " attend " + folder() + " 'no question here'", true);
  EXPECT_EQ(looked.exit, 1);
  EXPECT_NE(looked.out.find("needs a passage, a tab and a question"), std::string::npos);
  EXPECT_EQ(
      run(program + " attend " + folder() + " 'Ann lives in Oslo. Where does Ann live?'").exit, 0)
      << "the last sentence asks";
}

// SQuAD's JSON of generated facts; every third question has no answer in its passage.
std::string squad_of(int64_t n) {
  json data{{"version", "v2.0"}, {"data", json::array({{{"paragraphs", json::array()}}})}};
  const auto facts = generate_facts(n, Random(5));
  for (size_t i = 0; i < facts.size(); ++i) {
    const bool none = i % 3 == 0;
    json answers = json::array();
    if (!none) {
      answers.push_back(
          {{"text", facts[i].answers[0].text}, {"answer_start", facts[i].answers[0].begin}});
    }
    const std::string question = none ? "Who sank the ship ?" : facts[i].question;
    data["data"][0]["paragraphs"].push_back({{"context", *facts[i].passage},
                                             {"qas",
                                              {{{"id", i == 0 ? "x" : "q" + std::to_string(i)},
                                                {"question", question},
                                                {"is_impossible", none},
                                                {"answers", answers}}}}});
  }
  return data.dump();
}

TEST(Reader, QuestionsWithoutAnAnswer) {
  const ScratchFolder scratch;
  const std::string file = scratch.write("facts.json", squad_of(240)),
                    folder = scratch.path() + "/run";
  const Ended trained = run(program + " train read --data " + file +
                                " --embed 12 --width 8 --letters 4 --rate 0.01 --dropout 0 --steps "
                                "60 --json --out " +
                                folder,
                            true);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  const json test = json::parse(trained.out.substr(trained.out.find('{')))["test"];
  EXPECT_GE(test["answer_em@unanswered"].get<double>(), 0.9) << test;
  EXPECT_TRUE(test.contains("answer_f1@answered"));
  const std::string asked = scratch.write("asked.txt",
                                          "Anna Silva was born in Rome .\tWho sank the "
                                          "ship ?\n");
  const Ended none = run(program + " predict " + folder + " --json < " + asked);
  EXPECT_TRUE(json::parse(none.out)["answer"].is_null()) << none.out;
  const Ended some = run(program + " predict " + folder + " --no-answer -1000 --json < " + asked);
  EXPECT_TRUE(json::parse(some.out)["answer"].is_string()) << some.out;
}

TEST(Reader, BadInputIsOneSentence) {
  const ScratchFolder scratch;
  const std::string whole = squad_of(6);
  const auto fails = [&](const std::string& name, const std::string& text,
                         const std::string& says) {
    const std::string file = scratch.write(name, text);
    const Ended ended = run(program + " train read --steps 1 --data " + file, true);
    EXPECT_EQ(ended.exit, 1) << name;
    EXPECT_NE(ended.out.find(says), std::string::npos) << ended.out;
    EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1) << ended.out;
  };
  fails("cut.json", whole.substr(0, 400), "cut.json: is cut off or damaged: not JSON at byte 401");
  std::string twice = whole;
  twice.replace(twice.find("\"q1\""), 4, "\"x\"");
  fails("twice.json", twice, "the id 'x' came before");
  fails("absent.tsv", "passage\tquestion\tanswer\nAnn sings\tWho?\tBob\n",
        "absent.tsv:2: the answer 'Bob' is not in its passage 'Ann sings'");
  fails("columns.tsv", "one\ttwo\na b\tb\nc d\td\n", "columns.tsv: which column is the passage");
  const Ended wrong =
      run(program + " train read --model bidaf --data builtin:cloze --steps 1", true);
  EXPECT_EQ(wrong.exit, 1);
  EXPECT_NE(wrong.out.find("builtin:cloze holds clozes"), std::string::npos) << wrong.out;
}

}  // namespace
}  // namespace fovea::test
