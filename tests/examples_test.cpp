#include "fovea/data/examples.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "fovea/data/csv.h"
#include "fovea/data/table.h"
#include "support/scratch.h"

namespace fovea {
namespace {

using test::error_of;
using test::ScratchFolder;
using test::shared_data;
using Words = std::vector<std::string>;

const auto pairs_of = [](const std::string& path) { return read_pairs(path); };
const auto labelled = [](const std::string& path) { return read_labelled(path); };

const std::string skip = "; mend it, or leave such rows out with --skip-bad";
const std::string there =
    "; columns go by name or number, counted from 1. There are column 1 (EU); column 2 (NNP)";

// Reads a file of this content and name; errors come without the folder.
class Examples : public testing::Test {
 protected:
  template <class Read>
  std::string refusal(const std::string& name, const std::string& content, const Read& read) {
    const std::string path = folder_.write(name, content);
    std::string text = error_of([&] { read(path); });
    for (size_t at; (at = text.find(folder_.path() + "/")) != std::string::npos;) {
      text.erase(at, folder_.path().size() + 1);
    }
    return text;
  }
  std::string rows(const std::string& name, const std::string& content) {
    std::string seen;
    for (const auto& [text, label] : read_labelled(folder_.write(name, content))) {
      seen += say("[", label, "|", text, "]");
    }
    return seen;
  }
  std::string tagged(const std::string& content, const std::string& column = "") {
    std::string seen;
    for (const Tagged& sentence : read_tagged(folder_.write("a", content), column)) {
      EXPECT_EQ(sentence.words.size(), sentence.tags.size());
      for (size_t i = 0; i < sentence.words.size(); ++i) {
        seen += say(sentence.words[i], "/", sentence.tags[i], " ");
      }
      seen += "; ";
    }
    return seen;
  }
  ScratchFolder folder_;
};

TEST_F(Examples, PairsAreTwoColumns) {
  const auto pairs = read_pairs(folder_.write("a.tsv", "ein Haus\ta house\n\n  \nja\tyes\r\n"));
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].source, "ein Haus");
  EXPECT_EQ(pairs[1].target, "yes");
  EXPECT_TRUE(pairs[0].truth.empty());
}

TEST_F(Examples, WrongPairsAreNamedWithTheirLine) {
  EXPECT_EQ(refusal("a.tsv", "a\tb\na b\n", pairs_of),
            "a.tsv:2: needs 2 columns as most rows have, got 1" + skip);
  EXPECT_EQ(
      refusal("a.tsv", "a\tb\tc\n", pairs_of),
      "a.tsv: which column is the source cannot be told; say --columns source=1,target=2. There "
      "are column 1 (a); column 2 (b); column 3 (c)");
  EXPECT_EQ(refusal("a.tsv", "a\t \n", pairs_of), "a.tsv:1: the target is empty" + skip);
  EXPECT_EQ(refusal("a.tsv", "\n\n", pairs_of), "a.tsv: is empty; needs rows with source, target");
}

TEST_F(Examples, ParallelFilesAreRead) {
  const std::string de = folder_.write("a.de", "eins\n\nzwei\n");
  const auto read = [&](const std::string& en) { return read_pairs(de + "," + en); };
  const auto pairs = read(folder_.write("a.en", "one\n\ntwo\n"));
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[1].source, "zwei");
  EXPECT_EQ(pairs[1].target, "two");
  EXPECT_EQ(refusal("a.en", "one\ntwo\n", read),
            "parallel files need equally many lines: a.de has 3, a.en has 2");
  EXPECT_EQ(
      refusal("a.en", "one\ntwo\nthree", read),
      "a.de:2: is blank, but the line of the same number in a.en is not; fill it, or blank both");
  // A file may have a comma in its name.
  EXPECT_EQ(read_pairs(folder_.write("a,b", "x\ty\n")).size(), 1u);
}

TEST_F(Examples, ConllColumnsAreRead) {
  const std::string text = "-DOCSTART- -X- O\n\nEU NNP B-ORG\nrejects VBZ O\n\n\n# # O\n1 CD O";
  EXPECT_EQ(tagged(text), "EU/B-ORG rejects/O ; #/O 1/O ; ");
  EXPECT_EQ(tagged(text, "2"), "EU/NNP rejects/VBZ ; #/# 1/CD ; ");
  EXPECT_EQ(tagged("New York\tLOC\n"), "New York/LOC ; ");
  EXPECT_EQ(tagged("# NN\n1 CD\n"), "#/NN 1/CD ; ");
}

TEST_F(Examples, ConlluIsRead) {
  const std::string row = "\t_\t_\t_\t_\n";
  const std::string text = "# text = can't go\n1-2\tcan't\t_\t_\t_\t_" + row +
                           "1\tca\tcan\tAUX\tMD\t_" + row + "2\tn't\tnot\tPART\tRB\t_" + row +
                           "2.1\tgone\tgo\tVERB\tVB\t_" + row + "3\tgo\tgo\tVERB\tVB\t_" + row +
                           "\n# text = #\n1\t#\t#\tSYM\tSYM\t_" + row;
  EXPECT_EQ(tagged(text), "ca/AUX n't/PART go/VERB ; #/SYM ; ");
  EXPECT_EQ(tagged(text, "xpos"), "ca/MD n't/RB go/VB ; #/SYM ; ");
  EXPECT_EQ(tagged(text, "3"), "ca/can n't/not go/go ; #/# ; ");
}

TEST_F(Examples, WrongRowsOfTagsAreNamed) {
  const auto read = [](const std::string& column) {
    return [column](const std::string& path) { return read_tagged(path, column); };
  };
  EXPECT_EQ(refusal("a", "EU NNP O\nrejects VBZ\n", read("")),
            "a:2: needs 3 columns as line 1 has, got 2" + skip);
  EXPECT_EQ(refusal("a", "\nEU\n", read("")), "a: needs a word and its tag a line, got one column");
  EXPECT_EQ(refusal("a", "EU NNP\n", read("3")), "a: has no column '3' for the tags" + there);
  EXPECT_EQ(refusal("a", "EU NNP\n", read("0")), "a: has no column '0' for the tags" + there);
  EXPECT_EQ(refusal("a", "EU NNP\n", read("uppos")),
            "a: has no column 'uppos' for the tags" + there);
  EXPECT_EQ(refusal("a", "EU NNP\n", read("upos")), "a: has no column 'upos' for the tags" + there);
  EXPECT_EQ(refusal("a", "EU\t\n", read("")), "a:1: of the tags number 1 is empty" + skip);
  EXPECT_EQ(refusal("a", "\n\n", read("")), "a: is empty; needs rows with words, tags");
}

TEST_F(Examples, LabelsInCsvHaveQuotes) {
  EXPECT_EQ(rows("a.csv", "pos,fine\nneg,\"so, \"\"so\"\"\nand bad\"\n\npos, \"x\" \n"),
            "[pos|fine][neg|so, \"so\"\nand bad][pos|x]");
  EXPECT_EQ(rows("a.CSV", "Label,Text\npos,a 5\" disc\n"), "[pos|a 5\" disc]");
  EXPECT_EQ(rows("a.csv", "id,Review,stars,Sentiment\n7,fine,3,pos\n"), "[pos|fine]");
}

TEST_F(Examples, LabelsInTsvMayHaveQuotes) {
  EXPECT_EQ(rows("a.tsv", "pos\t\"fine\"\nneg\t\"no\" he said\nneg\t\"no\" and \"no\"\n"),
            "[pos|fine][neg|\"no\" he said][neg|\"no\" and \"no\"]");
  EXPECT_EQ(rows("a.tsv", "sentence\tlabel\nfine\t1\n"), "[1|fine]");
  EXPECT_EQ(rows("a.txt", "1 a stirring film\n0 dull\n"), "[1|a stirring film][0|dull]");
}

TEST_F(Examples, WrongLabelsAreNamedWithTheirLine) {
  EXPECT_EQ(refusal("a.tsv", "pos\tfine\ndull\n", labelled),
            "a.tsv:2: needs 2 columns as most rows have, got 1" + skip);
  EXPECT_EQ(
      refusal("a.tsv", "pos\tfine\tx\n", labelled),
      "a.tsv: which column is the label cannot be told; say --columns label=1,text=2. There are "
      "column 1 (pos); column 2 (fine); column 3 (x)");
  EXPECT_EQ(refusal("a.txt", "pos fine\ndull\n", labelled),
            "a.txt:2: needs a label, a space and a text, got one word" + skip);
  EXPECT_EQ(refusal("a.csv", "fine\n", labelled),
            "a.csv:1: needs a label, a space and a text, got one word" + skip);
  EXPECT_EQ(refusal("a.csv", "pos,\n", labelled), "a.csv:1: the text is empty" + skip);
  EXPECT_EQ(refusal("a.csv", "label,text\n", labelled),
            "a.csv: has a header and no rows; needs rows with label, text");
  EXPECT_EQ(refusal("a.csv", "pos,x\nneg,\"fine\n\n", labelled).substr(0, 53),
            "a.csv:2: the quote that opens here is never closed; c");
  EXPECT_EQ(refusal("a.csv", "pos,x\nneg,\"fine\"ly\n", labelled),
            "a.csv:2: needs a comma or the end of the line after a closing quote, got 'l'; double "
            "the quotes that belong to the text, or leave such rows out with --skip-bad");
}

TEST_F(Examples, NumbersInCsvMayHaveQuotesAndSpaces) {
  const auto table =
      read_csv(folder_.write("a.csv", "\"x, in m\",y\n 1 , \"2.5\"\n\n-3e2,\"4\"\r\n"));
  EXPECT_EQ(table.names, (Words{"x, in m", "y"}));
  EXPECT_EQ(table.rows, (std::vector<std::vector<double>>{{1, 2.5}, {-300, 4}}));
  EXPECT_EQ(refusal("a.csv", "1,2\n\n3,four\n", read_csv),
            "a.csv:3: column 2 needs a number, got 'four'");
}

TEST(SharedData, Multi30kIsRead) {
  const std::string de = shared_data("multi30k/tok/train.lc.norm.tok.de.gz"),
                    en = shared_data("multi30k/tok/train.lc.norm.tok.en.gz");
  if (de.empty()) GTEST_SKIP() << "needs the data set multi30k";
  EXPECT_EQ(read_pairs(de + "," + en).size(), 29'000u);
}

TEST(SharedData, UniversalDependenciesAreRead) {
  struct Part {
    const char* name;
    size_t sentences, words;
  };
  for (const auto& [name, sentences, words] :
       {Part{"train", 12'544, 204'577}, {"dev", 2'001, 25'147}, {"test", 2'077, 25'094}}) {
    const std::string path = shared_data(say("ud_ewt/en_ewt-ud-", name, ".conllu.xz"));
    if (path.empty()) GTEST_SKIP() << "needs the data set ud_ewt";
    const auto read = read_tagged(path, "");
    EXPECT_EQ(read.size(), sentences);
    size_t count = 0;
    std::set<std::string> tags;
    for (const Tagged& sentence : read) {
      count += sentence.words.size();
      tags.insert(sentence.tags.begin(), sentence.tags.end());
    }
    EXPECT_EQ(count, words);
    EXPECT_EQ(tags.size(), 17u);
  }
}

TEST(SharedData, SentencesWithLabelsAreRead) {
  const std::string path = shared_data("sentence_cls/stsa.binary.train.gz");
  if (path.empty()) GTEST_SKIP() << "needs the data set sentence_cls";
  const auto read = read_labelled(path);
  EXPECT_EQ(read.size(), 6'920u);
  std::set<std::string> labels;
  for (const Labelled& example : read) labels.insert(example.label);
  EXPECT_EQ(labels, (std::set<std::string>{"0", "1"}));
}

TEST(Labelled, ColumnsOfWiderRowsAreNamedByNumber) {
  const ScratchFolder folder;
  const std::string path =
      folder.write("wide.tsv", "pos\t9\t0\ta good one\nneg\t2\t1\ta bad one\n");
  const auto examples = read_labelled(path, "1,4");
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[1].label, "neg");
  EXPECT_EQ(examples[1].text, "a bad one");
  EXPECT_EQ(error_of([&] { read_labelled(path, "1,5"); }),
            path +
                ": has no column '5' for the text; columns go by name or number, counted from "
                "1. There are column 1 (pos, neg); column 2 (9, 2); column 3 (0, 1); column 4 "
                "(a good one, a bad one)");
  for (const char* wrong : {"1", "1;4", "1,2,3", "label"}) {
    EXPECT_NE(error_of([&] { read_labelled(path, wrong); }).find("such as label=1,text=2"),
              std::string::npos);
  }
  for (const char* wrong : {"0,4", "a,b", "1,", "label=1,text=5"}) {
    EXPECT_NE(error_of([&] { read_labelled(path, wrong); }).find(": has no column '"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace fovea
