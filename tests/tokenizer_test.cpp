#include "fovea/data/tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "fovea/base/parallel.h"
#include "fovea/base/utf8.h"
#include "fovea/data/builtin.h"
#include "support/scratch.h"

namespace fovea {
namespace {

using test::error_of;
using test::ScratchFolder;
using Ids = std::vector<int32_t>;
using Words = std::vector<std::string>;

const Words texts{"the cat saw the dog", "a dog saw a Straße\u00a0there", "the end"};

// Enough of a language for sentencepiece to find pieces in.
Words sentences(int64_t n = 400) {
  Words list;
  for (const Labelled& example : generate_sentiment(n, Random(3))) list.push_back(example.text);
  return list;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Vocabulary, NumbersNamesAsTheyFirstCome) {
  const auto v = Vocabulary::of(Words{"b", "a", "b", "c"});
  EXPECT_EQ(v.names(), (Words{"b", "a", "c"}));
  EXPECT_EQ(v.size(), 3);
  EXPECT_EQ(v.id("c"), 2);
  EXPECT_EQ(v.id("d"), -1);
  EXPECT_EQ(v.name(1), "a");
  EXPECT_EQ(error_of([&] { v.name(3); }), "vocabulary: needs a number below 3, got 3");
}

TEST(Tokenizer, WordsComeByCountThenByBytes) {
  const auto t = Tokenizer::learn({.kind = "spaces"}, texts);
  Words names;
  for (int32_t id = 0; id < t.size(); ++id) names.push_back(t.piece(id));
  EXPECT_EQ(names, (Words{"<pad>", "<unk>", "<s>", "</s>", "the", "a", "dog", "saw", "Straße",
                          "cat", "end", "there"}));
  EXPECT_EQ(t.encode(" the  dog\u2003ran\t"), (Ids{4, 6, 1}));
  EXPECT_EQ(t.pieces("the dog ran"), (Words{"the", "dog", "ran"}));
  EXPECT_EQ(t.decode(Ids{2, 4, 6, 1, 3, 5, 0, 0}), "the dog <unk> a");
  EXPECT_TRUE(t.encode("").empty());
  EXPECT_EQ(t.decode({}), "");
}

TEST(Tokenizer, CharsAreCodePoints) {
  const auto t = Tokenizer::learn({.kind = "chars"}, Words{"aß aa"});
  EXPECT_EQ(t.size(), 7);
  EXPECT_EQ(t.encode("ßa b"), (Ids{6, 4, 5, 1}));
  EXPECT_EQ(t.pieces("ß b"), (Words{"ß", " ", "b"}));
  EXPECT_EQ(t.decode(Ids{2, 6, 4, 5, 1, 3}), "ßa \uFFFD");
}

TEST(Tokenizer, LowercaseIsUnicodes) {
  const auto t = Tokenizer::learn({.lowercase = true}, Words{"ÄRGER ärger Ωμέγα"});
  EXPECT_EQ(t.size(), 6);
  EXPECT_EQ(t.encode("Ärger ωΜΈΓΑ"), (Ids{4, 5}));
  EXPECT_EQ(t.pieces("ÄRGER"), (Words{"ärger"}));
}

TEST(Tokenizer, RareWordsAndTheRestBeyondALimitAreUnknown) {
  EXPECT_EQ(Tokenizer::learn({.min_count = 2}, texts).size(), 8);
  const auto t = Tokenizer::learn({.max_size = 6}, texts);
  EXPECT_EQ(t.size(), 6);
  EXPECT_EQ(t.encode("the a dog"), (Ids{4, 5, 1}));
  EXPECT_EQ(error_of([] { Tokenizer::learn({.min_count = 9}, texts); }),
            "tokens: no words to learn from: 3 texts have 8 different ones, of which none comes 9 "
            "times");
}

TEST(Tokenizer, UnknownKindsAreRefused) {
  const auto refusal = [](const std::string& kind) {
    return error_of([&] { Tokenizer::learn({.kind = kind}, texts); });
  };
  EXPECT_EQ(refusal("word"), "unknown kind of tokens 'word'; did you mean 'words'?");
  EXPECT_EQ(refusal("bpee:100"), "unknown kind of tokens 'bpee'; did you mean 'bpe'?");
  EXPECT_EQ(refusal("words:5"), "tokens: 'words' takes no number, got 'words:5'");
  for (const char* kind : {"bpe", "bpe:", "bpe:x", "bpe:4", "bpe:-1", "bpe:99999999999999999999"}) {
    EXPECT_EQ(refusal(kind), say("tokens: 'bpe' needs a number of pieces from 5 to 1000000, as in "
                                 "bpe:8000, got '",
                                 kind, "'"));
  }
}

TEST(Tokenizer, PiecesMakeTheTextAgain) {
  for (const char* kind : {"bpe:120", "unigram:120"}) {
    SCOPED_TRACE(kind);
    const auto t = Tokenizer::learn({.kind = kind}, sentences());
    EXPECT_EQ(t.size(), 120);
    EXPECT_EQ(t.piece(0) + t.piece(1) + t.piece(2) + t.piece(3), "<pad><unk><s></s>");
    const std::string text = "the wonderful watch was hardly ever ugly";
    const Ids ids = t.encode(text);
    EXPECT_LT(ids.size(), text.size());
    EXPECT_EQ(t.decode(ids), text);
    const Words pieces = t.pieces(text);
    ASSERT_EQ(pieces.size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(pieces[i], t.piece(ids[i]));
    Ids framed{Tokenizer::begin};
    framed.insert(framed.end(), ids.begin(), ids.end());
    framed.insert(framed.end(), {Tokenizer::end, Tokenizer::pad});
    EXPECT_EQ(t.decode(framed), text);
    EXPECT_EQ(t.decode(t.encode("the ж")), "the <unk>");
    EXPECT_EQ(t.pieces("the ж").back(), "ж");
  }
}

TEST(Tokenizer, PiecesAreLearnedInSilenceAndTheSameEachTime) {
  for (const char* kind : {"bpe:120", "unigram:120"}) {
    const ScratchFolder folder;
    testing::internal::CaptureStderr();
    for (const char* name : {"a", "b"}) {
      Tokenizer::learn({.kind = kind}, sentences()).save(folder.path(), name);
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    EXPECT_EQ(bytes_of(folder.path() + "/a.model"), bytes_of(folder.path() + "/b.model"));
  }
}

TEST(Tokenizer, SaysHowManyPiecesThereMayBe) {
  const auto refusal = [](const std::string& kind) {
    return error_of([&] { Tokenizer::learn({.kind = kind}, sentences(20)); });
  };
  const std::string most = refusal("bpe:5000");
  const std::string words = "tokens: the texts hold fewer pieces than bpe:5000 asks for; at most ";
  ASSERT_EQ(most.substr(0, words.size()), words);
  EXPECT_EQ(refusal("bpe:" + most.substr(words.size())), "");
  EXPECT_EQ(refusal("bpe:6").substr(0, 76),
            "tokens: bpe:6 asks for fewer pieces than the texts have characters; needs mo");
  EXPECT_EQ(refusal("unigram:5000"), "");  // takes what there is
  EXPECT_EQ(error_of([] {
              Tokenizer::learn({.kind = "bpe:50"}, Words{" ", ""});
            }),
            "tokens: no text to learn bpe:50 from");
}

TEST(Tokenizer, SavedIsLoaded) {
  for (const std::string kind : {"words", "spaces", "chars", "bpe:100", "unigram:100"}) {
    SCOPED_TRACE(kind);
    const ScratchFolder folder;
    const Words learned = sentences();
    const auto saved = Tokenizer::learn({.kind = kind, .lowercase = true}, learned);
    saved.save(folder.path(), "source");
    const auto loaded = Tokenizer::load(folder.path(), "source");
    EXPECT_EQ(loaded.options().kind, kind);
    EXPECT_TRUE(loaded.options().lowercase);
    EXPECT_EQ(loaded.size(), saved.size());
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(loaded.encode(learned[i] + " Ж"), saved.encode(learned[i] + " Ж"));
      const std::string text = loaded.decode(loaded.encode(learned[i]));
      EXPECT_EQ(text, kind == "words" ? saved.decode(saved.encode(text)) : learned[i]);
    }
  }
}

TEST(Tokenizer, WordsAndSpacesOfOneVocabulary) {
  const auto spaces = Tokenizer::learn({.kind = "spaces"}, Words{"it is n't good , is it ?"});
  const Ids ids = spaces.encode("is n't good ?");
  EXPECT_EQ(spaces.encode("isn't good?"), (Ids{1, 1}));
  EXPECT_EQ(spaces.split_as("words", {.clitics = true}).encode("Isn't good?"), ids);
  EXPECT_EQ(spaces.split_as("words").split_as("spaces").encode("is n't good ?"), ids);
  EXPECT_EQ(error_of([] { Tokenizer::learn({.kind = "chars"}, texts).split_as("words"); }),
            "tokens: only words and spaces can be split as each other, got chars");
}

TEST(Tokenizer, CaseIsKeptButNotDecisive) {
  const Words learned{"terrible , really terrible",
                      "Merkel met Apple . Apple and an apple , an apple , an apple , Apple",
                      "Good day ! The end . The day . the THE"};
  const auto t = Tokenizer::learn({}, learned);
  const auto word = [&](const std::string& text) { return t.decode(t.encode(text)); };
  EXPECT_EQ(word("TERRIBLE"), "terrible");
  EXPECT_EQ(word("Terrible!!!!"), "terrible!");
  EXPECT_EQ(word("merkel MERKEL Merkel"), "Merkel Merkel Merkel");
  EXPECT_EQ(word("Apple apple APPLE"), "Apple apple apple") << "three of each: both are words";
  EXPECT_EQ(word("the The THE"), "The The The") << "none comes three times: the most frequent";
  EXPECT_EQ(word("good"), "Good");
  EXPECT_EQ(word("awful"), "<unk>");
  const auto exact = Tokenizer::learn({.fold_case = false}, learned);
  EXPECT_EQ(exact.decode(exact.encode("TERRIBLE the THE")), "<unk> the THE");
  const auto lower = Tokenizer::learn({.lowercase = true}, learned);
  EXPECT_EQ(lower.decode(lower.encode("MERKEL the")), "merkel the");
  // Forms that are rare by themselves reach a least count together.
  const auto counted = Tokenizer::learn({.min_count = 4}, learned);
  EXPECT_EQ(counted.decode(counted.encode("THE apple")), "The apple");
}

TEST(Tokenizer, LearnsAndEncodesTheSameOnAnyNumberOfThreads) {
  Words learned = sentences(3000);
  for (size_t i = 0; i < learned.size(); i += 3) learned[i][0] = 'T';
  const int before = threads();
  std::vector<std::string> names;
  std::vector<Ids> ids;
  for (const int count : {1, 2, 4}) {
    set_threads(count);
    const auto t = Tokenizer::learn({}, learned);
    Words these;
    for (int32_t id = 0; id < t.size(); ++id) these.push_back(t.piece(id));
    if (names.empty()) names = these, ids = t.encode(learned);
    EXPECT_EQ(these, names);
    EXPECT_EQ(t.encode(learned), ids);
  }
  EXPECT_EQ(ids[5], Tokenizer::learn({}, learned).encode(learned[5]));
  set_threads(before);
}

// Every token lies where it says, in bytes and in characters.
void check_places(const Tokenizer& t, const std::string& text) {
  const auto tokens = t.pieces_with_places(text);
  ASSERT_EQ(tokens.size(), t.encode(text).size());
  const auto chars = code_points(text);
  const bool bytes = t.options().kind == "bytes";
  int64_t last = 0, last_char = 0;
  for (const Token& token : tokens) {
    ASSERT_LE(last, token.begin);
    ASSERT_LE(token.begin, token.end);
    ASSERT_LE(token.end, static_cast<int64_t>(text.size()));
    ASSERT_EQ(token.text, text.substr(token.begin, token.end - token.begin));
    ASSERT_LE(last_char - (bytes ? 1 : 0), token.char_begin);
    ASSERT_LE(token.char_end, static_cast<int64_t>(chars.size()));
    std::string by_chars;
    for (int64_t i = token.char_begin; i < token.char_end; ++i) by_chars += chars[i];
    if (bytes) {
      ASSERT_NE(by_chars.find(token.text), std::string::npos);
    } else {
      ASSERT_EQ(by_chars, token.text);
    }
    last = token.end, last_char = token.char_end;
  }
}

TEST(Tokenizer, TokensKnowTheirPlaces) {
  const Words odd{"", " ", "The  Straße, 東京 \u00a0 is — good! ", "\u1e9eA\u0130\u212a 👍🏽 x",
                  "a\xff b"};
  for (const char* kind : {"words", "spaces", "chars", "bytes", "bpe:120", "unigram:120"}) {
    for (const bool lowercase : {false, true}) {
      SCOPED_TRACE(say(kind, " ", lowercase));
      const auto t = Tokenizer::learn({.kind = kind, .lowercase = lowercase}, sentences());
      for (const std::string& text : odd) check_places(t, text);
      for (const std::string& text : sentences(20)) check_places(t, text + "  Ж " + text);
    }
  }
  const auto t = Tokenizer::learn({.lowercase = true}, texts);
  const auto tokens = t.pieces_with_places("Die Straße, \u1e9e!");
  ASSERT_EQ(tokens.size(), 5u);
  EXPECT_EQ(tokens[1].text, "Straße");
  EXPECT_EQ(tokens[2].begin, 11);
  EXPECT_EQ(tokens[2].char_begin, 10);
  EXPECT_EQ(tokens[4].text, "!");
  EXPECT_EQ(tokens[4].char_end, 14);
}

TEST(Tokenizer, FirstFormatsWordsAreSpaces) {
  const ScratchFolder folder;
  folder.write("t.json", R"({"format": "fovea tokenizer", "kind": "words", "lowercase": false,
                             "min_count": 1, "max_size": 0, "vocabulary": ["a,", "b"]})");
  const auto t = Tokenizer::load(folder.path(), "t");
  EXPECT_EQ(t.options().kind, "spaces");
  EXPECT_EQ(t.encode("a, b B a ,"), (Ids{4, 5, 1, 1, 1})) << "case is decisive, as it was then";
  t.save(folder.path(), "again");
  EXPECT_EQ(Tokenizer::load(folder.path(), "again").encode("a, B"), (Ids{4, 1}));
}

TEST(Tokenizer, DamagedFilesAreRefused) {
  const ScratchFolder folder;
  const auto refusal = [&] {
    std::string text = error_of([&] { Tokenizer::load(folder.path(), "t"); });
    return text.substr(std::min(text.size(), folder.path().size() + 1));
  };
  const std::string foreign =
      "t.json: is not a tokenizer that Fovea saved, or not all of it; get the model's folder again";
  EXPECT_EQ(refusal(), "t.json: cannot be read; a model's folder needs its tokenizer");
  Tokenizer::learn({.kind = "bpe:100"}, sentences()).save(folder.path(), "t");
  const std::string json = bytes_of(folder.path() + "/t.json");
  const std::string model = bytes_of(folder.path() + "/t.model");
  for (const auto& text : {json.substr(0, json.size() / 2), std::string("[1]"), std::string(),
                           std::string("{\"format\": 3}")}) {
    folder.write("t.json", text);
    EXPECT_EQ(refusal(), foreign);
  }
  folder.write("t.json", R"({"format": "fovea tokenizer", "kind": 3})");
  EXPECT_EQ(refusal().substr(0, 37), "t.json: lacks what a tokenizer needs ");
  folder.write("t.json", R"({"format": "fovea tokenizer", "kind": "words", "lowercase": false,
                             "min_count": 1, "max_size": 0, "vocabulary": ["a", "a"]})");
  EXPECT_EQ(refusal(), "t.json: the vocabulary has an entry twice; get the model's folder again");
  folder.write("t.json", json);
  folder.write("t.model", model.substr(0, model.size() / 2));
  EXPECT_EQ(refusal().substr(0, 33), "t.model: is not the file that " + folder.path().substr(0, 3));
  std::filesystem::remove(folder.path() + "/t.model");
  EXPECT_EQ(refusal(), "t.model: cannot be read; a model's folder needs its tokenizer");
}

}  // namespace
}  // namespace fovea
