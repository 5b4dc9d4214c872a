// A memory network and its four parts.
#include "fovea/model/memory/memory_network.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/layer.h"
#include "support/program.h"
#include "support/scratch.h"
#include "support/small_stories.h"

namespace fovea::test {
namespace {

// Letters of each word, as the data would give them: of word w the letters w, w + 1 and w + 2.
Tensor spelled(const Tensor& words) {
  Tensor letters = Tensor::zeros({words.elements(), letters_of_word}, Dtype::i32);
  for (int64_t i = 0; i < words.elements(); ++i) {
    for (int32_t k = 0; k < 3; ++k)
      letters.write<int32_t>()[i * letters_of_word + k] = words.read<int32_t>()[i] + k + 1;
  }
  return letters;
}
ModelInputs spelled_example() {
  ModelInputs in = example();
  in.letters = spelled(in.story.inner.ids);
  in.second_letters = spelled(in.question.ids);
  return in;
}
MemoryNetworkOptions small(const std::string& input, const std::string& response) {
  MemoryNetworkOptions o;
  o.width = 3, o.input = input, o.response = response, o.groups = 7;
  return o;
}

// Answers of two words and of one, as they are taught, and what should follow each row.
ModelInputs written_example() {
  ModelInputs in = spelled_example();
  in.answer = sequences_of(std::vector<std::vector<int32_t>>{{2, 4, 5}, {2, 6}});
  return in;
}
const Tensor written_wanted = Tensor::ids({5}, {4, 5, 3, 6, 3});
ModelSizes writing_sizes() {
  ModelSizes writing = sizes;
  writing.target_vocabulary = 7;
  return writing;
}

TEST(MemoryNetwork, GradientsOfItsParts) {
  for (const char* input : {"words", "letters"}) {
    for (const char* response : {"words", "lstm"}) {
      SCOPED_TRACE(say(input, " ", response));
      Parameters table(3, Dtype::f64);
      const MemoryNetwork model(table, writing_sizes(), small(input, response));
      const bool writes = std::string(response) == "lstm";
      const Function f = [&](const std::vector<Tensor>&) {
        return model.loss(written_example(), writes ? written_wanted : Tensor::ids({2}, {1, 0}), 0);
      };
      EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
    }
  }
}

// What is wanted after no row teaches nothing.
TEST(MemoryNetwork, AnAnswerThatNobodyKnowsCostsNothing) {
  Parameters table(3, Dtype::f64);
  const MemoryNetwork model(table, writing_sizes(), small("words", "lstm"));
  ModelInputs known = written_example(), unknown = written_example();
  unknown.answer = sequences_of(std::vector<std::vector<int32_t>>{{2, 4, 5}, {2}});
  ModelInputs other = unknown;
  other.answer = sequences_of(std::vector<std::vector<int32_t>>{{2, 4, 5}, {6}});
  const Tensor wanted = Tensor::ids({4}, {4, 5, 3, -1});
  const double loss = model.loss(unknown, wanted, 0).item();
  EXPECT_EQ(loss, model.loss(other, wanted, 0).item());
  EXPECT_NE(loss, model.loss(known, written_wanted, 0).item());
}

TEST(MemoryNetwork, WritesOrChooses) {
  Parameters table(3);
  const MemoryNetwork writer(table, writing_sizes(), small("words", "lstm"));
  EXPECT_THROW(writer(example()), Error);
  const auto written = writer.write(example(), {.beam = 3, .nbest = 2});
  ASSERT_EQ(written.size(), 2U);
  for (const auto& answers : written) {
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_GE(answers[0].score, answers[1].score);
    for (int32_t id : answers[0].ids) EXPECT_LT(id, 7);
  }
  const auto alone = writer.write(second_alone(), {.beam = 3, .nbest = 2});
  EXPECT_EQ(alone.at(0).at(1).ids, written[1][1].ids) << "a story depends on its neighbour";
  EXPECT_NEAR(alone[0][1].score, written[1][1].score, 1e-5);
  Parameters other(3), wordless(3);
  EXPECT_THROW(MemoryNetwork(other, sizes, small("words", "words")).write(example(), {}), Error);
  EXPECT_THROW(MemoryNetwork(wordless, sizes, small("words", "lstm")), Error);
}

// "ann" and "anna" have #an and ann in common, and the order of letters counts.
TEST(MemoryNetwork, WordsThatLookAlikeShareFeatures) {
  const InputPart input = letter_input(1 << 20);
  Tensor letters = Tensor::zeros({4, letters_of_word}, Dtype::i32);
  const char* words[] = {"ann", "anna", "nan", "a"};
  for (int64_t w = 0; w < 4; ++w) {
    for (int64_t i = 0; words[w][i] != 0; ++i)
      letters.write<int32_t>()[w * letters_of_word + i] = words[w][i];
  }
  const Sequences read = input.read(Tensor::ids({4}, {0, 0, 0, 0}), letters);
  const auto at = read.offsets.read<int32_t>();
  EXPECT_EQ((std::vector<int32_t>(at.begin(), at.end())), (std::vector<int32_t>{0, 3, 7, 10, 11}));
  const auto ids = read.ids.read<int32_t>();
  EXPECT_EQ(ids[0], ids[3]);
  EXPECT_EQ(ids[1], ids[4]);
  EXPECT_NE(ids[2], ids[5]);
  for (int i = 0; i < 3; ++i) {
    for (int j = 7; j < 10; ++j) EXPECT_NE(ids[i], ids[j]);
  }
  EXPECT_THROW(input.read(Tensor::ids({4}, {0, 0, 0, 0}), {}), Error);
}

TEST(MemoryNetwork, AFullMemoryForgetsTheOldest) {
  const InputPart words = word_input(sizes);
  const MemoryContents all = memory_contents(words, next_slot(), example(), 3),
                       few = memory_contents(words, oldest_slot(2), example(), 3);
  EXPECT_EQ(all.which, (std::vector<StoredSentences>{{0, 1, 2}, {0}}));
  EXPECT_EQ(few.which, (std::vector<StoredSentences>{{1, 2}, {0}}));
  const auto ids = few.sentences.sums.ids.read<int32_t>();
  EXPECT_EQ((std::vector<int32_t>(ids.begin(), ids.end())),
            (std::vector<int32_t>{3, 4, 5, 8, 6, 7, 2, 1}));
  const auto places = few.sentences.places.read<int32_t>();
  EXPECT_EQ((std::vector<int32_t>(places.begin(), places.end())),
            (std::vector<int32_t>{0, 1, 2, 0, 1, 0, 1, 2}));
}

// Parts of one's own: I that halves the vocabulary, G that keeps nothing about word 3, O that
// always finds what was said first, R that answers by how many facts were found.
TEST(MemoryNetwork, EveryPartCanBeReplaced) {
  std::vector<StoredSentences> seen;
  MemoryNetworkParts parts;
  parts.input = {.features = 5, .read = [](const Tensor& words, const Tensor&) {
                   Tensor halves = words;
                   for (int32_t& id : halves.write<int32_t>()) id /= 2;
                   return word_input({}).read(halves, {});
                 }};
  parts.store = [](StoredSentences& slots, int64_t sentence, std::span<const int32_t> words) {
    if (std::ranges::find(words, 3) == words.end()) slots.insert(slots.begin(), sentence);
  };
  {
    Parameters table(4);
    const MemoryNetwork model(table, sizes, small("words", "words"), parts);
    EXPECT_EQ(table["output/memory/weight"].shape(), Shape({5, 3}));
    EXPECT_EQ(model(example()).scores.shape(), Shape({2, 3}));
    EXPECT_GT(model.loss(example(), Tensor::ids({2}, {1, 0}), 0).item(), 0);
  }
  parts.output = [&](const MemoryContents& memory, const FoundFacts&) {
    seen = memory.which;
    Tensor scores = Tensor::zeros({memory.outer.count(), memory.outer.longest + 1});
    for (int64_t b = 0; b < scores.dim(0); ++b) scores.write()[b * scores.dim(1)] = 1;
    return ScoredFacts{scores};
  };
  parts.response = [](const MemoryContents&, const FoundFacts& found, const Tensor& candidates) {
    Tensor scores = Tensor::zeros({std::ssize(found), candidates.dim(0)});
    for (int64_t b = 0; b < scores.dim(0); ++b)
      scores.write()[b * scores.dim(1) + std::ranges::count(found[b], 0)] = 1;
    return scores;
  };
  Parameters table(5);
  const MemoryNetwork model(table, sizes, small("words", "words"), parts);
  EXPECT_FALSE(table.has("output/memory/weight"));
  const Tensor scores = model(example()).scores;
  EXPECT_EQ(seen, (std::vector<StoredSentences>{{0, 2}, {0}}));
  EXPECT_EQ(scores.read()[2], 1) << "two hops found the first sentence";

  MemoryNetworkParts written = parts;
  written.response = nullptr;
  written.writing.loss = [](const MemoryContents&, const FoundFacts&, const Sequences&,
                            const Tensor&) { return Tensor::full({}, 5); };
  Parameters half(8);
  EXPECT_THROW(MemoryNetwork(half, sizes, small("words", "words"), written), Error);
  written.writing.write = [](const MemoryContents&, const FoundFacts& found, const BeamOptions&) {
    return std::vector<std::vector<Hypothesis>>(found.size(), {{{4, 4}, 0}});
  };
  Parameters none(8);
  const MemoryNetwork writer(none, sizes, small("words", "words"), written);
  EXPECT_EQ(writer.write(example(), {}).at(1).at(0).ids, (std::vector<int32_t>{4, 4}));
  parts.store = [](StoredSentences& slots, int64_t sentence, std::span<const int32_t>) {
    slots.push_back(sentence + 1);
  };
  Parameters other(6);
  EXPECT_THROW(MemoryNetwork(other, sizes, small("words", "words"), parts)(example()), Error);
}

// A name that was never seen shares letters with one that was; to words alone it is unknown.
TEST(MemoryNetwork, LettersTellNamesThatWereNeverSeen) {
  const ScratchFolder scratch;
  Random random(6);
  const char* towns[] = {"Rome", "Oslo", "Paris", "Cairo"};
  const char* people[] = {"Katharina", "Benjamin", "Wilhelmine", "Johannes"};
  std::string text, misspelled;
  for (uint64_t i = 0; i < 200; ++i) {
    const uint64_t who = random.below(4), other = (who + 1 + random.below(3)) % 4,
                   fact = random.below(2), town = random.below(4);
    text += say("1 ", people[fact == 0 ? who : other], " is in ", towns[town], ".\n2 ",
                people[fact == 0 ? other : who], " is in ", towns[(town + 1) % 4], ".\n3 Where is ",
                people[who], "?\t", towns[(town + fact) % 4], "\t", fact + 1, "\n");
  }
  for (uint64_t i = 0; i < 16; ++i) {
    const uint64_t fact = i / 4 % 2;
    misspelled += say("1 Katharine is in ", towns[i % 4], ".\n2 Benjamine is in ",
                      towns[(i + 1) % 4], ".\n3 Where is ", fact == 1 ? "Benjamine" : "Katharine",
                      "?\t", towns[(i + fact) % 4], "\t", fact + 1, "\n");
  }
  const std::string data = scratch.write("s.txt", text), other = scratch.write("o.txt", misspelled);
  double right[2];
  for (const bool letters : {false, true}) {
    const std::string folder = scratch.path() + (letters ? "/letters" : "/words");
    const Ended trained =
        run(program + " train qa --model memnn --hops 1 --epochs 20 --data " + data +
            (letters ? " --input letters --groups 512" : "") + " --out " + folder);
    ASSERT_EQ(trained.exit, 0) << trained.out;
    const Ended measured = run(program + " eval " + folder + " --json --data " + other);
    ASSERT_EQ(measured.exit, 0) << measured.out;
    right[letters] = nlohmann::json::parse(measured.out)["metrics"]["right_answers"];
  }
  EXPECT_LT(right[0], 0.8);
  EXPECT_GT(right[1], 0.9);
}

}  // namespace
}  // namespace fovea::test
