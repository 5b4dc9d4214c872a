// Texts that are asked about come raw or tokenised, whatever was learned from; and what a file
// holds is told without a task in mind.
#include "fovea/data/asked_tokens.h"

#include <gtest/gtest.h>

#include "fovea/data/records.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using Texts = std::vector<std::string>;

TEST(AskedTokens, ALineIsRawOrNot) {
  const WordRules treebank{.clitics = true};
  for (const char* raw : {"Hello, world!", "It was good.", "(really) I mean it", "do it: now",
                          "don't", "我喜欢中文电影"}) {
    EXPECT_TRUE(looks_raw(raw, treebank)) << raw;
  }
  // One word is enough where no sign speaks against it.
  for (const char* raw : {"on terror.\"", "it...because", "such,with that", "“Nice.” he said",
                          "Hi , it was great!", "done..."}) {
    EXPECT_TRUE(looks_raw(raw, treebank)) << raw;
  }
  for (const char* split : {"1,000 men at 10:30", "see http://x.org/a?b now", "so , as Mr. X said",
                            "Inc. rose , they say ."}) {
    EXPECT_FALSE(looks_raw(split, treebank)) << split;
  }
  for (const char* split : {"Hello , world !", "Mr. Smith came .", "he said , `` no . ''", "do n't",
                            "plain words", "U.S. stocks rose , he said .", ""}) {
    EXPECT_FALSE(looks_raw(split, treebank)) << split;
  }
  EXPECT_FALSE(looks_raw("don't", {})) << "who learned from don't keeps it";
}

TEST(AskedTokens, RawTextGetsTheNumbersOfTheTokenisedOne) {
  const Texts tokenised{"Well , it is n't good .", "It 's bad , is n't it ?"};
  const Tokenizer learned = Tokenizer::learn({.kind = "auto"}, tokenised);
  EXPECT_EQ(learned.options().kind, "spaces");
  const AskedTokens asked(learned, true);
  const std::string raw = "Well, it isn't good.";
  EXPECT_EQ(asked.of(raw).encode(raw), learned.encode(tokenised[0]));
  EXPECT_EQ(asked.of(tokenised[0]).encode(tokenised[0]), learned.encode(tokenised[0]));
  // What the tokenised text has as one word stays one.
  const Tokenizer mail =
      Tokenizer::learn({.kind = "auto"}, Texts{"an e-mail , a AT&T one .", "x - y - z ."});
  const std::string sent = "an e-mail, well-made.";
  EXPECT_EQ(AskedTokens(mail, true).of(sent).pieces(sent),
            (Texts{"an", "e-mail", ",", "well", "-", "made", "."}));
  const AskedTokens strict(learned, false);
  EXPECT_NE(strict.of(raw).encode(raw), learned.encode(tokenised[0])) << "spaces were asked for";
  const Texts raw_file{"Well, it isn't good.", "It's bad, isn't it?"};
  EXPECT_EQ(asked.of_all(raw_file).encode(raw_file[0]), learned.encode(tokenised[0]));
  EXPECT_EQ(asked.of_all(tokenised).encode(tokenised[0]), learned.encode(tokenised[0]));
  EXPECT_EQ(Tokenizer::learn({.kind = "auto"}, raw_file).options().kind, "words");
}

TEST(LookInto, SaysWhatAFileHolds) {
  const ScratchFolder s;
  std::string rows = "id;mood;said\n";
  for (int i = 0; i < 30; ++i)
    rows += say(i, ";", i % 2 ? "glad" : "sad", ";what number ", i, " said\n");
  const FileContents found = look_into(s.write("a.csv", rows));
  EXPECT_EQ(found.summary.format, "csv");
  EXPECT_TRUE(found.summary.header);
  ASSERT_EQ(found.summary.columns.size(), 3u);
  EXPECT_TRUE(found.summary.columns[0].numeric);
  EXPECT_TRUE(is_like_labels(found.summary.columns[1]));
  EXPECT_FALSE(is_like_labels(found.summary.columns[2]));
  EXPECT_EQ(found.rows.size(), 30u);
}

// A lone text is wanted: commas alone make no table of prose, a header does.
TEST(LookInto, ProseIsNoTable) {
  const ScratchFolder s;
  const auto format = [&](const std::string& content) {
    return RecordReader(s.write("a", content), {{"text"}}).summary().format;
  };
  EXPECT_EQ(format("one,two\nthree,four\nfive,six\nseven,eight\n"), "text");
  EXPECT_EQ(format("one\ttwo\nthree\tfour\nfive\tsix\nseven\teight\n"), "text");
  EXPECT_EQ(format("id,text\n1,a long one\n2,a long two\n3,a long three\n"), "csv");
}

}  // namespace
}  // namespace fovea::test
