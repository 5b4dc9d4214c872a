// Phrases in sentences and pairs of texts, read from files of every kind; and how they are split.
#include "fovea/data/aspects.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/base/error.h"
#include "fovea/data/builtin.h"
#include "fovea/data/split.h"
#include "fovea/data/text_pairs.h"
#include "fovea/train/ranking_metrics.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

struct Reading : testing::Test {
  ScratchFolder scratch;
  std::string file(const std::string& text) { return scratch.write("data.txt", text); }
  std::vector<Aspect> aspects(const std::string& text, const std::string& columns = "") {
    ReadOptions options;
    options.columns = columns;
    return read_aspects(file(text), options);
  }
  // The sentence that refuses this.
  std::string refusal(const std::string& text, const std::string& columns = "") {
    return error_of([&] { aspects(text, columns); });
  }
};

void expect_aspect(const Aspect& a, const std::string& text, const std::string& phrase,
                   const std::string& label) {
  EXPECT_EQ(a.text, text);
  EXPECT_EQ(a.phrase(), phrase);
  EXPECT_EQ(a.label, label);
}

TEST_F(Reading, ThreeLines) {
  const auto all = aspects(
      "But the $T$ was so horrible .\nstaff\n-1\n\n$T$ and only $T$ , the best\n fish soup \n1\n");
  ASSERT_EQ(all.size(), 2);
  expect_aspect(all[0], "But the staff was so horrible .", "staff", "-1");
  expect_aspect(all[1], "fish soup and only fish soup , the best", "fish soup", "1");
  EXPECT_EQ(all[1].begin, 0) << "the first place counts";
  ReadSummary summary;
  read_aspects(file("the $T$ was good\nfood\n1\n"), ReadOptions(), &summary);
  EXPECT_NE(summary.sentence().find("data.txt: three lines an example; "), std::string::npos)
      << summary.sentence();
  EXPECT_EQ(summary.rows, 1);
}

TEST_F(Reading, SemEvalAndMams) {
  const auto all = aspects(R"(<?xml version="1.0" encoding="utf-8"?>
<!-- made by <hand> -->
<sentences><sentence id="1"><text>Café food &amp; caf&apos;s food.</text>
  <aspectTerms>
    <aspectTerm term="food" polarity="negative" from="18" to="22"/>
    <aspectTerm from="0" polarity='positive' to="4" term="Café"/>
  </aspectTerms></sentence>
<sentence><text>Nothing here</text></sentence>
<sentence><text>Great wine</text><Opinions>
  <Opinion target="NULL" category="X" polarity="neutral" from="0" to="0"/>
  <Opinion target="wine" category="DRINKS" polarity="positive" from="6" to="10"></Opinion>
</Opinions></sentence></sentences>)");
  ASSERT_EQ(all.size(), 3);
  expect_aspect(all[0], "Café food & caf's food.", "food", "negative");
  EXPECT_EQ(all[0].begin, all[0].text.rfind("food")) << "places are counted in characters";
  expect_aspect(all[1], "Café food & caf's food.", "Café", "positive");
  expect_aspect(all[2], "Great wine", "wine", "positive");
}

TEST_F(Reading, CharactersOfXmlByTheirNumbers) {
  const auto all = aspects(R"(<sentences><sentence>
  <text>caf&#233; <![CDATA[& <b>]]>&#xE9;t&#x1F600; &#0; &#xD800; &#12 &amp;#233;</text>
  <aspectTerm term="caf&#xe9;" polarity="positive" from="0" to="4"/>
  <aspectTerm term="&lt;b>" polarity="neutral"/></sentence></sentences>)");
  ASSERT_EQ(all.size(), 2);
  expect_aspect(all[0], "café & <b>ét😀 &#0; &#xD800; &#12 &#233;", "café", "positive");
  EXPECT_EQ(all[1].phrase(), "<b>");
  EXPECT_NE(refusal("<s><text><![CDATA[ open</text>").find("CDATA is not closed"),
            std::string::npos);
}

TEST_F(Reading, AFileMayBeginWithABlankLineOrAMistake) {
  EXPECT_EQ(aspects("\n\nthe $T$ was good\nfood\n1\n").size(), 1);
  EXPECT_EQ(aspects("\n<s><text>good food</text><aspectTerm term='food' polarity='1'/></s>").size(),
            1);
  const std::string error =
      refusal("the food was good\nfood\n1\nthe $T$ was bad\nwine\n0\nthe $T$\nbeer\n0\n");
  EXPECT_NE(error.find("data.txt:1: has no $T$"), std::string::npos) << error;
  const auto table = aspects(
      "sentence,aspect,label\nthe food was good,food,1\nthe wine,wine,0\nthe $T$ was bad,beer,0\n");
  EXPECT_EQ(table.size(), 3) << "a mark in a row of a table makes no three lines";
}

TEST_F(Reading, InTheEncodingThatIsSaid) {
  ReadOptions options;
  options.encoding = "windows-1252";
  const auto three = read_aspects(file("the $T$ was good\ncaf\xE9\n1\n"), options);
  ASSERT_EQ(three.size(), 1);
  EXPECT_EQ(three[0].phrase(), "café");
  const auto xml = read_aspects(
      file("<s><text>caf\xE9</text><aspectTerm term=\"caf\xE9\" polarity=\"1\"/></s>"), options);
  EXPECT_EQ(xml.at(0).phrase(), "café");
}

TEST(Phrases, AreFoundAsWords) {
  const auto place = [](const std::string& sentence, const std::string& phrase) {
    return aspect_of("here", sentence, phrase, "").begin;
  };
  const std::string barista = "The barista was rude but the bar is great";
  EXPECT_EQ(place(barista, "bar"), barista.rfind("bar"));
  EXPECT_EQ(place("an era éra ra", "ra"), std::string("an era éra ").size()) << "é is a letter";
  EXPECT_EQ(place("bar2 (bar)", "bar"), 6);
  EXPECT_EQ(place("a barista", "bar"), 2) << "where it is never a word by itself, the first place";
  EXPECT_EQ(place("a.b $5 and $", "$"), 4) << "a sign is part of no word";
  for (const char* blank : {" ", "\xE3\x80\x80", " \xC2\xA0"}) {
    EXPECT_NE(error_of([&] { place("a\xE3\x80\x80\xC2\xA0 b", blank); }).find("phrase is blank"),
              std::string::npos);
  }
}

TEST_F(Reading, Columns) {
  const auto all = aspects(
      "sentence\taspect\tlabel\nthe food was good\tfood\tpositive\n"
      "the $T$ was bad\twine\tnegative\n");
  ASSERT_EQ(all.size(), 2);
  expect_aspect(all[0], "the food was good", "food", "positive");
  expect_aspect(all[1], "the wine was bad", "wine", "negative");
  const auto chosen = aspects("id,what,said,of\n7,1,\"good, cheap food\",food\n8,0,bad wine,wine\n",
                              "label=what,text=said,phrase=of");
  expect_aspect(chosen.at(0), "good, cheap food", "food", "1");
}

TEST_F(Reading, WhatIsWrongWithPhrasesIsOneSentence) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal("sentence\taspect\tlabel\nall was good\tfood\tpositive\n"),
      "data.txt:2: the phrase 'food' is not in its sentence 'all was good'");
  has(refusal("the $T$ was good\nfood\n1\nall was bad\nwine\n0\n"), "data.txt:4: has no $T$");
  has(refusal("the $T$ was good\nfood\n1\nthe $T$\nwine\n"), "has 2 lines of three");
  has(refusal("the $T$ was good\n\n1\n"), "the phrase is blank");
  has(refusal("<a><sentence><text>good</text><aspectTerm term=\"food\" polarity=\"x\"/>"),
      "the phrase 'food' is not in its sentence");
  has(refusal("<sentences>\n<sentence><text>good"), "no aspectTerm and no Opinion");
  has(refusal("<sentences>\n<sentence a=>"), "data.txt:2: is not XML");
  has(refusal("<s><text>a</text><aspectCategory category=\"food\" polarity=\"x\"/></s>"),
      "has categories, but no phrases");
  has(refusal("text\tlabel\ngood food\tpositive\nbad wine\tnegative\n", "phrase=aspect"), "aspect");
}

TEST_F(Reading, PairsOfTexts) {
  const auto all = read_text_pairs(
      file("gold_label\tsentence1\tsentence2\nyes\ta b\tc d\nno\te\tf g\n"), ReadOptions());
  ASSERT_EQ(all.size(), 2);
  EXPECT_EQ(all[0].first, "a b");
  EXPECT_EQ(all[0].second, "c d");
  EXPECT_EQ(all[0].label, "yes");
  ReadOptions options;
  options.columns = "label=gold,a=x,b=missing";
  const std::string error =
      error_of([&] { read_text_pairs(file("gold\tx\ty\n1\ta\tb\n0\tc\td\n"), options); });
  EXPECT_NE(error.find("missing"), std::string::npos) << error;
}

TEST_F(Reading, ARecordIsNotAPairWithACountOfItsRows) {
  const auto records = [&](const std::string& header, auto row, const std::string& columns = "") {
    std::string text = header + "\n";
    for (int i = 0; i < 30; ++i) text += row(i) + "\n";
    ReadOptions options;
    options.columns = columns;
    return has_records(file(text), options);
  };
  const auto label = [](int i) { return i % 2 ? "yes" : "no"; };
  const auto asked = [](int i) { return say("where does number ", i / 5, " live"); };
  const auto said = [](int i) { return say("the house of ", i, " is red"); };
  const auto pair = [&](int i) { return say(i, ",", label(i), ",", asked(i), ",", said(i)); };
  EXPECT_FALSE(records("id,label,a,b", pair));
  EXPECT_FALSE(records("id,label,premise,hypothesis", pair));
  EXPECT_FALSE(records("id,label,asked,said", pair)) << "a text that repeats is no second label";
  EXPECT_FALSE(records("what,label,asked,said", pair));
  const auto note = [&](int i) { return say(20 + i, ",", label(i), ",", said(i)); };
  EXPECT_TRUE(records("age,outcome,note", note));
  EXPECT_FALSE(records("id,outcome,note", note));
  EXPECT_TRUE(
      records("age,label,note,sex", [&](int i) { return note(i) + (i % 3 ? ",f" : ",m"); }));
  EXPECT_TRUE(records("age,outcome,note", note, "label=outcome, a=note, numbers=age"));
  EXPECT_TRUE(records("age,outcome,note", note, " numbers = age,label=outcome,a=note"));
  EXPECT_FALSE(records("age,outcome,note", note, "label=outcome,a=note,b=2"));
}

TEST(Split, WhatBelongsTogetherStaysTogether) {
  std::vector<TextPair> all = generate_answers(400, Random(1));
  const auto test = take_part(all, 0.1, "test", [](const TextPair& p) { return p.first; });
  std::set<std::string> learned;
  for (const TextPair& p : all) learned.insert(p.first);
  EXPECT_EQ(all.size() + test.size(), 400);
  EXPECT_GT(test.size(), 10);
  for (const TextPair& p : test) EXPECT_FALSE(learned.contains(p.first)) << p.first;
  // Without keys it is as it always was.
  std::vector<int> a(50), b(50);
  for (int i = 0; i < 50; ++i) a[i] = b[i] = i;
  EXPECT_EQ(take_part(a, 0.2, "dev", [](int) { return std::string(); }), take_part(b, 0.2, "dev"));
}

TEST(Builtin, AspectsAskAboutOneOfTwoThings) {
  for (const Aspect& a : generate_aspects(200, Random(2))) {
    EXPECT_LE(a.end, a.text.size());
    EXPECT_EQ(a.text.substr(a.begin - 4, 4), "the ") << a.text;
  }
}

TEST(Ranking, AsTheLiteratureCounts) {
  // Ranks 2 and 4 are right.
  const RankingTallies t = ranking_tallies({{0.1, true}, {0.9, false}, {0.5, true}, {0.3, false}});
  EXPECT_DOUBLE_EQ(t.average_precision[0], (1 / 2.0 + 2 / 4.0) / 2);
  EXPECT_DOUBLE_EQ(t.reciprocal_rank[0], 0.5);
  EXPECT_EQ(t.first_is_right[0], 0);
  EXPECT_EQ(ranking_tallies({{0.5, false}}).reciprocal_rank, Tally({0, 0}))
      << "a question without an answer says nothing";
  // A constant tells nothing apart, whatever the order of the file.
  EXPECT_EQ(ranking_tallies({{0.5, true}, {0.5, false}}).reciprocal_rank[0], 0.5);
  EXPECT_EQ(ranking_tallies({{0.5, true}, {0.5, false}}).first_is_right[0], 0);
}

}  // namespace
}  // namespace fovea::test
