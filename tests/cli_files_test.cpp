// Files as people have them, by the program alone: tables, encodings, raw text; and answers that
// programs can read.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "fovea/base/error.h"
#include "support/program.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using nlohmann::json;

const std::string small =
    " --embed 8 --width 12 --score-width 8 --dropout 0.1 --word-dropout 0.1 --batch 16 ";

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> names_in(const std::string& path) {
  return json::parse(text_of(path)).get<std::vector<std::string>>();
}

// A shop's export: semicolons, names that say nothing of labels and texts, commas in quotes.
std::string reviews(const std::string& separator = ";") {
  std::string text = "nr" + separator + "stars given" + separator + "what was said\n";
  for (int i = 0; i < 60; ++i) {
    text += say(i, separator, i % 2 == 0 ? "good" : "bad", separator, "\"The film was ",
                i % 2 == 0 ? "great" : "terrible", ", as number ", i % 7, " is.\"\n");
  }
  return text;
}
const std::string by_name = " --columns 'label=stars given,text=what was said' ",
                  by_number = " --columns 2,3 ";

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

const std::vector<std::string> both{"bad", "good"};

TEST(Files, AHeaderIsNoClassWhateverSaysWhichColumnsAreMeant) {
  const ScratchFolder s;
  const std::string file = s.write("a.csv", reviews());
  int number = 0;
  for (const std::string& columns : {by_name, by_number}) {
    const std::string to = say(s.path(), "/", ++number);
    const Ended ended =
        run(program + " train classify --data " + file + columns + small + "--steps 2 --out " + to,
            true);
    ASSERT_EQ(ended.exit, 0) << ended.out;
    EXPECT_EQ(names_in(to + "/labels.json"), both);
    EXPECT_NE(ended.out.find("a.csv: semicolon-separated, with a header"), std::string::npos);
    EXPECT_NE(ended.out.find("UTF-8. label is column 2 'stars given'"), std::string::npos)
        << ended.out;
  }
  // The same rows, from stdin and with commas: every verb takes columns.
  const std::string from_stdin = s.path() + "/stdin", other = s.write("b", reviews(","));
  ASSERT_EQ(run("gzip -c " + file + " | " + program + " train classify --data -" + by_name + small +
                "--steps 2 --out " + from_stdin)
                .exit,
            0);
  // What suits a file is not looked for in stdin, which comes once: `small` says all of it.
  EXPECT_TRUE(text_of(from_stdin + "/model.safetensors") ==
              text_of(s.path() + "/1/model.safetensors"));
  const Ended measured = run(program + " eval " + from_stdin + " --json --data " + other);
  ASSERT_EQ(measured.exit, 0);
  EXPECT_EQ(json::parse(measured.out)["examples"], 60);
  const Ended gone = run(program + " eval " + from_stdin, true);
  EXPECT_EQ(gone.exit, 1);
  EXPECT_NE(gone.out.find("came by stdin"), std::string::npos) << gone.out;
  const Ended answers =
      run(program + " predict " + from_stdin + " --columns 'what was said' --data " + other);
  EXPECT_EQ(std::ranges::count(answers.out, '\n'), 60);
  expect_refused("eval " + from_stdin + " --columns 2,3", 2,
                 "eval: columns says how a file is read; give --data FILE with it");
}

TEST(Files, ATableIsAskedByTheColumnThatWasLearnedFrom) {
  const ScratchFolder s;
  const std::string file = s.write("a.csv", reviews()), to = s.path() + "/m",
                    texts = s.write("texts", "The film was great.\nIt was terrible.\n");
  ASSERT_EQ(
      run(program + " train classify --data " + file + by_name + small + "--steps 2 --out " + to)
          .exit,
      0);
  const Ended loud = run(program + " predict " + to + " --data " + file, true);
  EXPECT_NE(loud.out.find("text is column 3 'what was said' (as asked)"), std::string::npos)
      << loud.out;
  const Ended quiet = run(program + " predict " + to + " --data " + file);
  EXPECT_EQ(std::ranges::count(quiet.out, '\n'), 60) << "the header is no question";
  EXPECT_EQ(quiet.out, run(program + " predict " + to + by_name + "--data " + file).out);
  EXPECT_EQ(quiet.out, run(program + " predict " + to + by_number + "--data " + file).out)
      << "as it is said to train";
  // A file of texts is still one question a line.
  EXPECT_EQ(std::ranges::count(run(program + " predict " + to + " --data " + texts).out, '\n'), 2);
  const Ended json = run("echo '{\"a\": \"great\"}' | " + program + " predict " + to, true);
  EXPECT_NE(json.out.find("--columns text=FIELD"), std::string::npos) << json.out;
}

// A model knows its columns by their names, wherever they stand in another table.
TEST(Files, ColumnsAreFoundByTheNamesTheyWereLearnedBy) {
  const ScratchFolder s;
  std::string rows = "mood,said\n";
  for (int i = 0; i < 60; ++i)
    rows +=
        say(i % 2 ? "glad" : "sad", ",we were ", i % 2 ? "happy" : "sorry", " on day ", i, "\n");
  const std::string to = s.path() + "/m";
  ASSERT_EQ(run(program + " train classify --data " + s.write("a.csv", rows) + " " + small +
                "--steps 2 --out " + to)
                .exit,
            0);
  const auto lines = [&](const std::string& command) {
    return std::ranges::count(run(command).out, '\n');
  };
  const std::string predict = program + " predict " + to;
  const std::string one = s.write("one.csv", "said\nwe were happy\nwe were sorry\n");
  EXPECT_EQ(lines(predict + " --data " + one), 2) << "a header alone in its column";
  EXPECT_EQ(lines("cat " + one + " | " + predict), 2) << "and by stdin";
  EXPECT_EQ(lines(predict + " --data " +
                  s.write("quoted.csv", "said\n\"we were\nhappy\"\n\"so, sorry\"\n")),
            2);
  const std::string wide = s.write("wide.csv", "n,said,by\n1,we were happy,a\n2,so sorry,b\n");
  EXPECT_EQ(lines("cat " + wide + " | " + predict), 2);
  EXPECT_EQ(lines("printf 'so glad\\nso sorry\\n' | " + predict), 2) << "a conversation is one";
  // Rows that are none are left out only when that is asked for.
  const std::string bad = s.write("bad.csv", "n,said\n1,we were happy\n2\n3,so sorry\n");
  EXPECT_EQ(lines(predict + " --data " + bad), 3);
  const Ended skipped = run(predict + " --skip-bad --data " + bad);
  EXPECT_EQ(skipped.exit, 0);
  EXPECT_EQ(std::ranges::count(skipped.out, '\n'), 2);
}

TEST(Files, NumbersAreFoundByTheNamesTheyWereLearnedBy) {
  const ScratchFolder s;
  std::string rows = "size,rooms,price\n";
  for (int i = 1; i < 60; ++i) rows += say(i, ",", i % 7, ",\"", i, ",", 100 + i, "\"\n");
  const std::string to = s.path() + "/m", predict = program + " predict " + to + " --data ";
  ASSERT_EQ(run(program + " train regress --model least_squares --data " + s.write("a.csv", rows) +
                " --out " + to)
                .exit,
            0);
  const std::string right = run(predict + s.write("b.csv", "size,rooms\n30,2\n")).out;
  EXPECT_NEAR(std::stod(right), 30130, 100) << "thousands apart are numbers";
  EXPECT_EQ(run(predict + s.write("c.csv", "rooms,size\n2,30\n")).out, right);
  EXPECT_EQ(run(predict + s.write("d.csv", "id,rooms,size,price\n7,2,30,1\n")).out, right);
  EXPECT_EQ(run("echo 7,30,2 | " + program + " predict " + to).exit, 1) << "one number too many";
}

TEST(Files, WordsALineAndBabisStoriesAreAskedAsTheyWereLearned) {
  const ScratchFolder s;
  std::string words, stories;
  for (int i = 0; i < 30; ++i) {
    words += "Ann B-PER\nsings O\n\n";
    stories += "1 Mary went to the hall.\n2 Where is Mary? \thall\t1\n";
  }
  const std::string tagged = s.write("a.conll", words), told = s.write("a.txt", stories);
  ASSERT_EQ(run(program + " train label --data " + tagged +
                " --embed 8 --width 8 --steps 2 --out " + s.path() + "/l")
                .exit,
            0);
  const Ended tags = run(program + " predict " + s.path() + "/l --data " + tagged);
  EXPECT_EQ(std::ranges::count(tags.out, '\n'), 30) << tags.out;
  EXPECT_EQ(std::ranges::count(tags.out.substr(0, tags.out.find('\n')), ' '), 1) << "two tags";
  ASSERT_EQ(run(program + " train qa --data " + told + " --steps 2 --out " + s.path() + "/q").exit,
            0);
  const Ended answers = run(program + " predict " + s.path() + "/q --data " + told);
  EXPECT_NE(answers.out.find("\nhall\n"), std::string::npos) << answers.out;
}

TEST(Files, WhatIsLikeLabelsIsSuggestedAsOne) {
  const ScratchFolder s;
  std::string rows = "nr,mood,place,said\n";
  for (int i = 0; i < 60; ++i) {
    rows += say(i, ",", i % 2 ? "glad" : "sad", ",", i % 3 ? "here" : "there", ",what number ", i,
                " said to all of us\n");
  }
  const Ended asked = run(program + " train classify --data " + s.write("a.csv", rows), true);
  EXPECT_EQ(asked.exit, 1);
  EXPECT_NE(asked.out.find("say --columns label=mood,text=said"), std::string::npos) << asked.out;
}

TEST(Files, BadRowsAreCountedAndSaidWhenAsked) {
  const ScratchFolder s;
  const std::string file = s.write("a.csv", reviews() + "61;good\n62;;\"no label.\"\n");
  const std::string train =
      program + " train classify --data " + file + by_number + small + "--steps 1";
  const Ended stopped = run(train, true);
  EXPECT_EQ(stopped.exit, 1);
  EXPECT_NE(stopped.out.find("a.csv:62: needs 3 columns"), std::string::npos) << stopped.out;
  const Ended ended = run(train + " --skip-bad", true);
  EXPECT_EQ(ended.exit, 0);
  EXPECT_NE(ended.out.find("60 rows, 2 bad, left out: line 62 ("), std::string::npos) << ended.out;
}

TEST(Files, EveryTaskReadsTables) {
  const ScratchFolder s;
  std::string pairs, tagged, texts = "id,text\n", numbers = "y\tx\n";
  for (int i = 0; i < 40; ++i) {
    pairs += say("{\"de\": \"ein Haus ", i % 9, "\", \"en\": \"a house ", i % 9, "\"}\n");
    tagged += say("{\"tokens\": [\"the\", \"man", i % 3, "\"], \"tags\": [\"D\", \"N\"]}\n");
    texts += say(i, ",\"one, two and ", i % 5, " of them\"\n");
    numbers += say(2 * i, "\t", i, "\n");
  }
  const std::string pairs_at = s.write("p.jsonl", pairs), tagged_at = s.write("t.jsonl", tagged),
                    texts_at = s.write("x.csv", texts), numbers_at = s.write("n.tsv", numbers);
  for (const std::string& words :
       {"translate" + small + "--columns source=de,target=en --data " + pairs_at,
        "label --embed 8 --width 12 --columns words=tokens,tags=tags --data " + tagged_at,
        "lm --width 12 --heads 2 --context 8 --data " + texts_at,
        "mlm --width 12 --heads 2 --data " + texts_at, "regress --data " + numbers_at}) {
    const Ended ended = run(program + " train " + words + " --steps 1", true);
    EXPECT_EQ(ended.exit, 0) << words << "\n" << ended.out;
    EXPECT_NE(ended.out.find(" 40 rows."), std::string::npos) << ended.out;
  }
  // Prose stays as it is, its blank lines too.
  const Ended prose =
      run("for i in 1 2 3 4 5; do printf ' a, b\\n\\nc, d\\ne, f\\ng, h\\n'; done | " + program +
              " train lm --data - --width 12 --heads 2 --context 4 --steps 1 --tokens chars",
          true);
  EXPECT_EQ(prose.exit, 0) << prose.out;
  EXPECT_NE(prose.out.find("a text a line"), std::string::npos) << prose.out;
  EXPECT_NE(prose.out.find(" 25 rows."), std::string::npos) << prose.out;
}

TEST(Tokens, RawTextIsSplitAsPeopleMeanAndCaseIsNotDecisive) {
  const ScratchFolder s;
  const std::string file = s.write("a.csv", reviews()), to = s.path() + "/m";
  ASSERT_EQ(
      run(program + " train classify --data " + file + by_name + small + "--steps 3 --out " + to)
          .exit,
      0);
  EXPECT_EQ(json::parse(text_of(to + "/tokens.json"))["kind"], "words");
  const Ended answers = run("printf 'terrible\\nTERRIBLE\\nTerrible\\n' | " + program +
                            " predict " + to + " --scores");
  std::istringstream in(answers.out);
  std::string first, next;
  std::getline(in, first);
  while (std::getline(in, next)) EXPECT_EQ(next, first);
}

TEST(Tokens, TokenisedTextIsRecognisedAndRawTextIsAskedOfItAllTheSame) {
  const ScratchFolder s;
  std::string tokenised, conll;
  for (int i = 0; i < 60; ++i) {
    tokenised += say(i % 2 ? "good" : "bad", "\tWell , it is n't number ", i % 7, " .\n");
    conll += say("Ähm\tO\n,\tO\n", i % 2 ? "Merkel" : "Kohl",
                 "\tB-PER\ndoes\tO\nn't\tO\nsay\tO\n.\tO\n\n");
  }
  const std::string file = s.write("a.tsv", tokenised), to = s.path() + "/m";
  const Ended trained =
      run(program + " train classify --data " + file + small + "--steps 3 --out " + to, true);
  ASSERT_EQ(trained.exit, 0) << trained.out;
  EXPECT_NE(trained.out.find("the text is tokenised already"), std::string::npos) << trained.out;
  EXPECT_EQ(json::parse(text_of(to + "/tokens.json"))["kind"], "spaces");
  const Ended same = run("printf \"Well , it is n't number 3 .\\nWell, it isn't number 3.\\n\" | " +
                         program + " predict " + to + " --scores");
  const size_t half = same.out.size() / 2;
  EXPECT_EQ(same.out.substr(0, half), same.out.substr(half)) << same.out;

  const std::string words = s.write("a.conll", conll), tagger = s.path() + "/t";
  ASSERT_EQ(run(program + " train label --embed 8 --width 12 --rate 0.02 --data " + words +
                " --steps 60 --out " + tagger)
                .exit,
            0);
  const Ended asked =
      run("printf \"Ähm, Merkel doesn't.\\n\" | " + program + " predict " + tagger + " --json");
  ASSERT_EQ(asked.exit, 0);
  const json answer = lines_of(asked.out).at(0);
  std::vector<std::string> tokens;
  for (const json& token : answer["tokens"]) tokens.push_back(token["text"]);
  EXPECT_EQ(tokens, (std::vector<std::string>{"Ähm", ",", "Merkel", "does", "n't", "."}));
  ASSERT_EQ(answer["entities"].size(), 1) << asked.out;
  const json entity = answer["entities"][0];
  EXPECT_EQ(entity["kind"], "PER");
  EXPECT_EQ(entity["text"], "Merkel");
  EXPECT_EQ(entity["begin"], 6);  // Ä has two bytes
  EXPECT_EQ(entity["end"], 12);
  EXPECT_EQ(entity["char_begin"], 5);
  EXPECT_EQ(entity["char_end"], 11);
  EXPECT_GT(entity["probability"], 0.3);
  EXPECT_EQ(answer["tokens"][2]["tag"], "B-PER");
  expect_refused("predict " + tagger + " --nbest 2 </dev/null", 2,
                 "predict: a model of label has one answer a line; --nbest 2 counts for those of "
                 "translate, classify, lm and mlm");
}

TEST(Answers, ABadLineCostsNoOtherItsAnswer) {
  const ScratchFolder s;
  const std::string sine = s.path() + "/sine";
  ASSERT_EQ(run(program + " train regress --data builtin:sine --steps 2 --out " + sine).exit, 0);
  const std::string asked = "printf '1\\nx\\n\\n\\377\\n2\\n' | " + program + " predict " + sine;
  const Ended plain = run(asked), loud = run(asked, true), typed = run(asked + " --json");
  EXPECT_EQ(plain.exit, 1);
  EXPECT_EQ(std::ranges::count(plain.out, '\n'), 5);
  EXPECT_NE(loud.out.find("fovea: stdin:2: regress: 'x' is not a number"), std::string::npos)
      << loud.out;
  EXPECT_NE(loud.out.find("fovea: stdin:4: not UTF-8"), std::string::npos);
  EXPECT_NE(loud.out.find("fovea: 2 lines could not be answered"), std::string::npos);
  EXPECT_EQ(typed.exit, 1);
  const auto lines = lines_of(typed.out);
  ASSERT_EQ(lines.size(), 5u) << typed.out;
  EXPECT_TRUE(lines[0]["answer"].is_number());
  EXPECT_TRUE(lines[1].contains("error") && lines[3].contains("error"));
  EXPECT_TRUE(lines[2]["answer"].is_null());
  EXPECT_TRUE(lines[4]["answer"].is_number());
  EXPECT_EQ(lines[4]["line"], 5);
  const Ended full = run("sh -c 'seq 9 | " + program + " predict " + sine + " > /dev/full'", true);
  EXPECT_EQ(full.exit, 1);
  EXPECT_EQ(full.out, "fovea: stdout: cannot be written: No space left on device\n");
}

TEST(Answers, EveryTaskGivesWhatProgramsNeed) {
  const ScratchFolder s;
  const auto trained = [&](const std::string& words, const std::string& name) {
    EXPECT_EQ(
        run(program + " train " + words + " --examples 60 --steps 2 --out " + s.path() + "/" + name)
            .exit,
        0);
    return " | " + program + " predict " + s.path() + "/" + name + " ";
  };
  const std::string sentiment = trained("classify --data builtin:sentiment" + small, "c"),
                    reverse = trained("translate --data builtin:reverse" + small, "t"),
                    text = trained("lm --data builtin:dates --width 12 --heads 2 --context 8", "l"),
                    hidden = trained("mlm --data builtin:tags --width 12 --heads 2", "m");
  const json label = lines_of(run("echo good" + sentiment + "--json").out).at(0);
  double sum = 0;
  for (const auto& [name, probability] : label["probabilities"].items()) {
    sum += probability.get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-4);
  EXPECT_EQ(label["probability"], label["probabilities"][label["answer"].get<std::string>()]);
  EXPECT_EQ(lines_of(run("echo good" + sentiment + "--json --nbest 2").out)[0]["answers"].size(),
            2u);
  const Ended table = run("printf 'good\\nbad\\n'" + sentiment + "--tsv");
  EXPECT_TRUE(table.out.starts_with("line\trank\tanswer\tprobability\t")) << table.out;
  EXPECT_EQ(std::ranges::count(table.out, '\n'), 3);

  const json written = lines_of(run("echo a b" + reverse + "--json --nbest 2").out).at(0);
  ASSERT_EQ(written["answers"].size(), 2u);
  double cost = 0;
  for (const json& token : written["tokens"]) cost += token["log_probability"].get<double>();
  EXPECT_LT(cost, 0);
  const json same = lines_of(run("echo a b" + reverse + "--json --length-penalty 0").out).at(0);
  double whole = 0;
  for (const json& token : same["tokens"]) whole += token["log_probability"].get<double>();
  EXPECT_NEAR(whole, same["log_probability"].get<double>(), 1e-3);

  const std::string draw = "echo May" + text + "--json --length 6 --seed ";
  EXPECT_EQ(lines_of(run(draw + "1").out)[0]["tokens"].size(), 6u);
  EXPECT_EQ(run(draw + "1").out, run(draw + "1").out);
  EXPECT_NE(run(draw + "1").out, run(draw + "2").out);
  EXPECT_EQ(lines_of(run("echo the [MASK] can" + hidden + "--json").out)[0]["tokens"].size(), 1u);
}

TEST(Answers, MapsPointIntoTheText) {
  const ScratchFolder s;
  const std::string to = s.path() + "/m";
  ASSERT_EQ(run(program + " train classify --data " + s.write("a.csv", reviews()) + by_name +
                " --model transformer --heads 2 --layers 2 --width 12 --steps 1 --out " + to)
                .exit,
            0);
  const json drawing = json::parse(run(program + " attend " + to + " 'Ähm, great!' --json").out);
  const json map = drawing["maps"][0];
  EXPECT_EQ(map["name"], "encoder/1/self head 1");  // layers count from 1 as heads do
  EXPECT_EQ(drawing["maps"][3]["name"], "encoder/2/self head 2");
  ASSERT_EQ(map["keys"].size(), 4u);
  EXPECT_EQ(map["key_places"][2],
            (json{{"begin", 6}, {"end", 11}, {"char_begin", 5}, {"char_end", 10}}));
  EXPECT_EQ(map["query_places"], map["key_places"]);
}

TEST(Files, ANumberFromAText) {
  const ScratchFolder s;
  std::string rated = "stars,review\n";
  for (int i = 0; i < 200; ++i) {
    rated += say(i % 2 == 0 ? 4.5 : 1.5, ",\"", i % 2 == 0 ? "Great" : "Terrible", ", number ",
                 i % 7, ".\"\n");
  }
  const std::string file = s.write("a.csv", rated), to = s.path() + "/m";
  const Ended trained =
      run(program + " train regress --json --columns target=stars,text=review --rate 0.02 --data " +
          file + small + "--steps 80 --out " + to);
  ASSERT_EQ(trained.exit, 0);
  const json test = json::parse(trained.out)["test"];
  EXPECT_LT(test["rmse"], 0.5);
  EXPECT_LT(test["mae"], 0.5);
  EXPECT_GT(test["r2"], 0.9);
  const auto answers = lines_of(
      run("printf 'great!\\nTERRIBLE\\n' | " + program + " predict " + to + " --json").out);
  EXPECT_GT(answers.at(0)["answer"], 3.5);
  EXPECT_LT(answers.at(1)["answer"], 2.5);
  EXPECT_EQ(json::parse(run(program + " eval " + to + " --json").out)["metrics"], test);
  EXPECT_FALSE(json::parse(run(program + " attend " + to + " great --json").out)["maps"].empty());
  // Baselines; `mean` is of numbers too, so that only the file says which is meant.
  for (const std::string model : {"linear", "mean"}) {
    SCOPED_TRACE(model);
    const std::string at = s.path() + "/" + model;
    const Ended fitted = run(program + " train regress --json --model " + model + " --data " +
                             file + " --out " + at);
    ASSERT_EQ(fitted.exit, 0);
    const json reached = json::parse(fitted.out)["test"];
    const double explained = reached["r2"];
    EXPECT_TRUE(model == "linear" ? explained > 0.9 : explained < 0.1) << explained;
    EXPECT_EQ(json::parse(run(program + " eval " + at + " --json").out)["metrics"], reached);
    EXPECT_EQ(run(program + " attend " + at + " great --json").exit, model == "linear" ? 0 : 1);
  }
  // The same by the model's name, and by what the file holds.
  EXPECT_EQ(run(program + " train regress --steps 1 --data " + file).exit, 0);
  EXPECT_EQ(run(program + " train regress --model transformer --heads 2 --width 12 --data " + file +
                " --steps 1")
                .exit,
            0);
}

}  // namespace
}  // namespace fovea::test
