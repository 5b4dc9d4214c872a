// What a corpus parts otherwise than the rules for words, learned from sentences as they were
// written.
#include "fovea/data/partings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fovea/data/examples.h"
#include "fovea/data/tokenizer.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

using Texts = std::vector<std::string>;

// Sentences of a corpus that writes dont as do nt and keeps w/o whole.
struct Corpus {
  Texts written{"I dont go w/o it.", "You dont, w/o 5mm.", "Its 7mm off.",
                "Its is its.",       "We dont.",           "du und er"};
  std::vector<Texts> words{{"I", "do", "nt", "go", "w/o", "it", "."},
                           {"You", "do", "nt", ",", "w/o", "5", "mm", "."},
                           {"It", "s", "7", "mm", "off", "."},
                           {"Its", "is", "its", "."},
                           {"We", "do", "nt", "."},
                           {"de", "le", "und", "er"}};
  std::vector<Partings::Sentence> sentences() const {
    std::vector<Partings::Sentence> all;
    for (size_t i = 0; i < written.size(); ++i) all.push_back({written[i], words[i]});
    return all;
  }
  Tokenizer tokenizer() const {
    Texts joined;
    for (const Texts& sentence : words) {
      joined.emplace_back();
      for (const std::string& word : sentence) joined.back() += word + " ";
    }
    return Tokenizer::learn({.kind = "spaces", .rules = {.clitics = true}}, joined);
  }
};

TEST(Partings, AreThoseThatMostSentencesHave) {
  const Corpus corpus;
  const Tokenizer learned = corpus.tokenizer().learn_partings(corpus.sentences());
  const Tokenizer raw = learned.split_as("words", learned.options().rules);
  EXPECT_EQ(raw.pieces("They Dont, w/o 9mm of its own."),
            (Texts{"They", "Do", "nt", ",", "w/o", "9", "mm", "of", "its", "own", "."}));
  // Its is parted once and kept twice; a sentence whose words are not in its text teaches nothing.
  EXPECT_EQ(raw.pieces("Its du"), (Texts{"Its", "du"}));
  // Without them the rules decide.
  EXPECT_EQ(corpus.tokenizer().split_as("words", {.clitics = true}).pieces("dont"),
            (Texts{"dont"}));
  // Tokenised text stays as it is.
  EXPECT_EQ(learned.pieces("I dont"), (Texts{"I", "dont"}));
}

TEST(Partings, GoWithTheTokenizersFile) {
  const Corpus corpus;
  const ScratchFolder s;
  const Tokenizer learned = corpus.tokenizer().learn_partings(corpus.sentences());
  learned.save(s.path(), "words");
  const Tokenizer again = Tokenizer::load(s.path(), "words");
  EXPECT_EQ(again.options().partings.size(), learned.options().partings.size());
  const std::string asked = "You dont go w/o 3mm.";
  EXPECT_EQ(again.split_as("words", again.options().rules).encode(asked),
            learned.split_as("words", learned.options().rules).encode(asked));
  const auto places = again.split_as("words", again.options().rules).pieces_with_places(asked);
  EXPECT_EQ(places[1].begin, 4);
  EXPECT_EQ(places[2].end, 8);
}

TEST(Partings, ThatDoNotFitAreRefused) {
  for (const char* text : {R"({"dont": [2]})", R"({"dont": []})", R"({"dont": [0, 4]})",
                           R"({"dont": [3, 2, 4]})", R"({"dont": [2, 9]})"}) {
    EXPECT_NE(error_of([&] { Partings::from_json(nlohmann::json::parse(text)); }), "") << text;
  }
}

TEST(Partings, ComeFromTheCommentsOfConllu) {
  const ScratchFolder s;
  const std::string rest = "\t_\t_\t_\t_\t_\t_\t_\n";
  const auto sentences =
      read_tagged(s.write("a", "# text = dont\n1\tdo\tAUX" + rest + "2\tnt\tPART" + rest +
                                   "\n# sent_id = 2\n" + "1\tgo\tVERB" + rest + "\n"),
                  ReadOptions{.columns = "words=form,tags=lemma"});
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].text, "dont");
  EXPECT_EQ(sentences[1].text, "");
  // JSON lines may have it too.
  EXPECT_EQ(read_tagged(s.write("b", R"({"tokens":["do","nt"],"tags":["A","P"],"text":"dont"})"
                                     "\n"),
                        ReadOptions{})[0]
                .text,
            "dont");
}

}  // namespace
}  // namespace fovea::test
