#include "fovea/data/tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

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
  const auto t = Tokenizer::learn({}, texts);
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
  for (const char* kind : {"words", "chars", "bpe:100", "unigram:100"}) {
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
      EXPECT_EQ(loaded.decode(loaded.encode(learned[i])), learned[i]);
    }
  }
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
