// Stories and questions: reading them, and the models that answer.
#include "fovea/data/stories.h"

#include <gtest/gtest.h>

#include <set>

#include "fovea/attention/position/memory.h"
#include "fovea/attention/recorder.h"
#include "fovea/base/words.h"
#include "fovea/kernel/bags.h"
#include "fovea/memory/bags.h"
#include "fovea/model/memory/end_to_end.h"
#include "fovea/model/memory/entity_network.h"
#include "fovea/model/memory/key_value.h"
#include "fovea/model/memory/memory_network.h"
#include "fovea/model/memory/stories.h"
#include "fovea/model/memory/story_reader.h"
#include "fovea/model/memory/story_transformer.h"
#include "fovea/op/shape.h"
#include "support/layer.h"
#include "support/scratch.h"
#include "support/small_stories.h"
#include "support/twin.h"

namespace fovea::test {
namespace {

TEST(Bags, KernelsAgreeWithTheirTwins) {
  for (const int64_t d : {1, 3, 8, 17, 50}) {
    check_against_twin([=]<class T>(Call& c, T) {
      constexpr int64_t words = 40, bags = 4, rows = 6, fixed = 3, places = 5;
      static const std::vector<int32_t> offsets{0, 7, 7, 30, 40};
      const kernel::Bags<T> b{bags,
                              d,
                              rows,
                              offsets.data(),
                              c.ids(words, rows + fixed),
                              c.ids(words, places),
                              c.in<T>(rows * d),
                              c.in<T>(fixed * d),
                              c.in<T>(places * d)};
      kernel::sum_bags(c.out<T>(bags * d), b);
      kernel::sum_bags_grad(c.inout<T>(rows * d), c.inout<T>(places * d), c.in<T>(bags * d), b);
    });
  }
}

TEST(Bags, Gradients) {
  const Sequences words = sequences_of(std::vector<std::vector<int32_t>>{{0, 3, 1}, {}, {4, 4}});
  const Tensor places = Tensor::ids({5}, {0, 1, 2, 0, 1}), fixed = random_tensor({2, 3}, 5);
  const Function f = [&](const std::vector<Tensor>& in) {
    return bags(in[0], fixed, words, places, in[1]);
  };
  EXPECT_LT(gradient_error(f, {random_tensor({3, 3}, 1), random_tensor({3, 3}, 2)}), 1e-5);
  EXPECT_THROW(bags(random_tensor({3, 3}, 1), {}, words, places, random_tensor({3, 3}, 2)), Error);
}

// Sukhbaatar et al. 2015: l_kj = (1 - j/J) - (k/d)(1 - 2j/J), which the authors' program has twice,
// and each word and feature half a place further in.
TEST(Bags, WordsCountByTheirPlacesAsTheAuthorsHaveThem) {
  const auto paper = [](double j, double k, double J, double d) {
    return (1 - j / J) - k / d * (1 - 2 * j / J);
  };
  for (const auto& [J, d] : {std::pair<int64_t, int64_t>{7, 5}, {4, 6}, {1, 3}, {3, 1}}) {
    SCOPED_TRACE(say(J, " words, ", d, " features"));
    const Tensor ours = place_weights(J, d, Dtype::f64), theirs = memory_position(J, d, Dtype::f64),
                 of_models = story_weights(true, J - 1, d, Dtype::f64);
    ASSERT_EQ(ours.shape(), Shape({J, d}));
    expect_same_bits(of_models, ours);  // the last place is the time's
    for (int64_t j = 1; j <= J; ++j) {
      for (int64_t k = 1; k <= d; ++k) {
        const size_t at = (j - 1) * d + k - 1;
        const double from_middle = (k - (d + 1) / 2.0) * (j - (J + 1) / 2.0);
        EXPECT_NEAR(ours.read<double>()[at], 1 + 4 * from_middle / static_cast<double>(d * J),
                    1e-15);
        EXPECT_NEAR(ours.read<double>()[at], 2 * paper(j - 0.5, k - 0.5, J, d), 1e-14);
        EXPECT_NEAR(theirs.read<double>()[at], paper(j, k, J, d), 1e-14);
      }
    }
  }
  const Tensor plain = story_weights(false, 3, 4, Dtype::f64);
  for (double w : plain.read<double>()) EXPECT_EQ(w, 1);
}

const char* const babi =
    "1 Mary moved to the bathroom.\n"
    "2 John went to the hallway.\n"
    "3 Where is Mary? \tbathroom\t1\n"
    "4 Daniel went back to the hallway.\n"
    "5 Where is Daniel? \thallway\t4\n"
    "1 Sandra took the milk.\n"
    "2 What is Sandra carrying?\tmilk,apple\t1\n";

TEST(Stories, ReadsBabi) {
  const ScratchFolder s;
  const auto all = read_stories(s.write("qa1_train.txt", babi));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].sentences, 2u);
  EXPECT_EQ(all[1].sentences, 3u);
  EXPECT_EQ(all[1].facts, std::vector<int32_t>{2});
  EXPECT_EQ(all[1].question, (Words{"where", "is", "daniel"}));
  EXPECT_EQ(all[2].sentences, 1u);
  EXPECT_EQ(all[2].answers[0], "milk,apple");
  EXPECT_EQ(all[0].task, "1");
  EXPECT_EQ(all[0].input, "Mary moved to the bathroom.\nJohn went to the hallway.\nWhere is Mary?");
}

TEST(Stories, ReadsAFolderTasksInOrder) {
  const ScratchFolder s;
  s.write("qa10_train.txt", babi);
  s.write("qa2_train.txt", babi);
  s.write("qa2_test.txt", babi);
  const auto all = read_stories(s.path(), "train");
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all.front().task, "2");
  EXPECT_EQ(all.back().task, "10");
  EXPECT_THROW(read_stories(s.path(), "valid"), Error);
}

TEST(Stories, ReadsPlainStoriesAndJsonLines) {
  const ScratchFolder s;
  const auto plain = read_stories(s.write(
      "mine.txt",
      "Ann is in Rome.\nBob is ill.\nWhere is Ann?\tRome\t1\n\nBob left.\nWho left?\tBob\n"));
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_EQ(plain[0].facts, std::vector<int32_t>{0});
  EXPECT_EQ(plain[1].sentences, 1u);
  const auto lines = read_stories(s.write(
      "kv.jsonl",
      R"({"question": ["what", "did", "joe thomas", "direct", "?"], "answers": ["up", "down"], "memory": [["joe thomas", "directed", "up"], ["ann", "wrote", "by and by"]], "split": "dev"})"
      "\n"));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].question, (Words{"what", "did", "joe thomas", "direct"}));
  EXPECT_EQ((*lines[0].story)[1].key, (Words{"ann", "wrote"}));
  EXPECT_EQ((*lines[0].story)[1].value, (Words{"by and by"}));
  EXPECT_EQ(lines[0].split, "dev");
  const StoryQuestion told = story_of_text("Ann is in Rome. Bob is ill. Where is Ann?");
  EXPECT_EQ(told.sentences, 2u);
}

// Bad input is one sentence with file and line.
TEST(Stories, SayWhatIsWrong) {
  const ScratchFolder s;
  const auto refused = [&](const std::string& text, const std::string& why) {
    const std::string path = s.write("bad.txt", text);
    try {
      read_stories(path);
      FAIL() << "read " << text;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), path + why);
    }
  };
  refused("1 Mary moved.\n2 John left.\n",
          ": holds no question; one ends with ? and has its answer behind a tab");
  refused("1 Mary moved.\n2 Where is Mary?\thome\t7\n",
          ":2: supporting fact 7 is not a sentence of this story before the question");
  refused("1 Mary moved.\n2 Where is Mary?\thome\t2\n",
          ":2: supporting fact 2 is not a sentence of this story before the question");
  refused("1 Mary moved.\n2 Where is Mary?\n",
          ":2: the question has no answer; put it behind a tab, as in 'Where is Mary?<TAB>garden'");
  refused("{\"memory\": []}\n",
          ":1: needs an object with a question, answers, and a memory or a story");
  // Among others a story without a question is passed over.
  EXPECT_EQ(read_stories(s.write("some.txt", std::string("1 A b.\n") + babi)).size(), 3u);
}

// bAbI's numbers go, those that people write stay.
TEST(Stories, NumbersInFrontAreBabisOnlyWhereAStoryBeginsWithOne) {
  const ScratchFolder s;
  const auto words = [](const StoryQuestion& q, size_t i) { return joined((*q.story)[i].words); };
  const auto plain =
      read_stories(s.write("plain.txt",
                           "Ann is in Rome.\n2 dogs are in Lima.\n1 cat is in Oslo.\n"
                           "Where are 2 dogs?\tLima\t2\n"));
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].sentences, 3u);
  EXPECT_EQ(words(plain[0], 1), "2 dogs are in lima");
  EXPECT_EQ(words(plain[0], 2), "1 cat is in oslo");
  const auto numbered = read_stories(
      s.write("numbered.txt",
              "1 Ann left.\n2 3 dogs came.\n3 Who left?\tann\t1\n4 Bob left.\n2 cats came.\n"
              "6 Who came?\tcats\t5\n1 Bob is here.\n2 Who is here?\tbob\t1\n"));
  ASSERT_EQ(numbered.size(), 3u);
  EXPECT_EQ(words(numbered[0], 1), "3 dogs came");
  EXPECT_EQ(words(numbered[1], 3), "2 cats came");
  EXPECT_EQ(numbered[1].facts, std::vector<int32_t>{3});
  EXPECT_EQ(numbered[2].sentences, 1u);
}

// What is a sentence when it is learned is one when it is asked about.
TEST(Stories, LinesAreSentencesAndOnlyAQuestionBehindOthersIsCut) {
  const StoryQuestion lines =
      story_of_text("Dr. Smith is in Rome. He is ill.\nBob is in Oslo.\nWhere is Dr. Smith?");
  ASSERT_EQ(lines.sentences, 2u);
  EXPECT_EQ((*lines.story)[0].words, words_of_sentence("dr smith is in rome he is ill"));
  EXPECT_EQ(lines.question, words_of_sentence("where is dr smith"));
  EXPECT_EQ(story_of_text("Dr. Smith left. Bob came.\nAnn left. Where is Bob?").sentences, 2u);
  const StoryQuestion told = story_of_text("1 Ann left.\n2 Bob came.\n3 Where is Bob?");
  EXPECT_EQ((*told.story)[1].words, (Words{"bob", "came"}));
}

TEST(Stories, JsonHasTextsListsAndMemories) {
  const auto of = [](const std::string& rest) {
    return story_of_text(R"({"question": "Where is Ann?", )" + rest + "}");
  };
  EXPECT_EQ(of(R"("story": "Ann is in Rome. Bob is in Oslo.")").sentences, 2u);
  EXPECT_EQ(of(R"("story": ["Ann is in Rome. Bob is in Oslo."])").sentences, 1u);
  EXPECT_EQ(of(R"("story": null, "memory": [["ann", "rome"]])").sentences, 1u);
  for (const char* bad : {R"("story": {"a": "b"})", R"("story": 5)", R"("story": [{"a": "b"}])",
                          R"("memory": {"a": ["b", "c"]})", R"("memory": "ann is in rome")",
                          R"("memory": [["ann", ""]])", R"("memory": [{"key": "", "value": "a"}])"})
    EXPECT_THROW(of(bad), Error) << bad;
  // A mark may be what is remembered; a value of several words is one, in its sentence as well.
  EXPECT_EQ((*of(R"("memory": [["film9", "stars", "?"]])").story)[0].value, Words{"?"});
  const Remembered apart =
      (*of(R"("memory": [{"key": "film9 stars", "value": ["Ann", "P1"]}])").story)[0];
  EXPECT_EQ(apart.value, Words{"ann p1"});
  EXPECT_EQ(apart.words, (Words{"film9", "stars", "ann p1"}));
}

TEST(Stories, WhatCannotBeReadIsToldAndLeftOut) {
  const ScratchFolder s;
  std::vector<std::string> bad;
  const auto all = read_stories(
      s.write("a.txt", "1 Ann left.\n2 Who left?\n3 Who left?\tann\t7\n4 Who left?\tann\t1\n"), "",
      {.on_bad = [&](const std::string& problem) { bad.push_back(problem); }});
  EXPECT_EQ(all.size(), 1u);
  ASSERT_EQ(bad.size(), 2u);
  EXPECT_NE(bad[1].find("a.txt:3: supporting fact 7"), std::string::npos) << bad[1];
  const auto latin = read_stories(s.write("b.txt", "Ren\xe9 left.\nWho left?\tRen\xe9\n"), "",
                                  {.encoding = "latin1"});
  EXPECT_EQ(latin[0].answers[0], "ren\u00e9");
}

TEST(Stories, BuiltInOnesFollowFromTheirFacts) {
  const auto all = generate_stories(300, Random(1));
  ASSERT_EQ(all.size(), 300u);
  for (const StoryQuestion& q : all) {
    ASSERT_FALSE(q.facts.empty());
    EXPECT_EQ(std::set<int32_t>(q.facts.begin(), q.facts.end()).size(), q.facts.size()) << q.input;
    bool named = false;  // one of as many as the task has names the answer
    for (size_t k = 0; k < q.facts.size(); ++k) {
      ASSERT_LT(static_cast<size_t>(q.facts[k]), q.sentences);
      const Words& words = (*q.story)[q.facts[k]].words;
      named |= k < std::stoul(q.task) && std::ranges::find(words, q.answers[0]) != words.end();
    }
    EXPECT_TRUE(named) << q.input;
  }
}

using Maker = std::function<std::unique_ptr<const Scorer>(Scope)>;
std::vector<std::pair<std::string, Maker>> answerers() {
  std::vector<std::pair<std::string, Maker>> all;
  for (const char* tying : {"adjacent", "layerwise"}) {
    for (const bool positions : {true, false}) {
      all.emplace_back(tying, [=](Scope s) {
        EndToEndOptions o;
        o.width = 3, o.memory = 4, o.hops = 2, o.tying = tying, o.positions = positions;
        return std::make_unique<EndToEndMemory>(s, sizes, o, softly());
      });
    }
  }
  for (const bool keys : {true, false}) {
    all.emplace_back("kv", [=](Scope s) {
      KeyValueOptions o;
      o.width = 3, o.keys = keys;
      return std::make_unique<KeyValueMemory>(s, sizes, o, softly());
    });
  }
  all.emplace_back("entnet", [](Scope s) {
    EntityOptions o;
    o.width = 3, o.slots = 2;
    return std::make_unique<EntityNetwork>(s, sizes, o, softly());
  });
  all.emplace_back("rnn", [](Scope s) {
    return std::make_unique<StoryReader>(s, sizes, [] {
      RecurrentModelOptions o;
      o.cell = "lstm", o.embed = 3, o.width = 3;
      return o;
    }());
  });
  all.emplace_back("transformer", [](Scope s) {
    TransformerOptions o;
    o.width = 4, o.heads = 2, o.layers = 2, o.dropout = 0, o.attention_dropout = 0;
    return std::make_unique<StoryTransformer>(s, sizes, o);
  });
  all.emplace_back("memnn", [](Scope s) {
    MemoryNetworkOptions o;
    o.width = 3, o.memory = 4;
    return std::make_unique<MemoryNetwork>(s, sizes, o);
  });
  return all;
}

TEST(StoryModel, Gradients) {
  const Tensor targets = Tensor::ids({2}, {1, 0});
  for (const bool own : {false, true}) {
    for (const auto& [name, make] : answerers()) {
      SCOPED_TRACE(name);
      Parameters table(3, Dtype::f64);
      const auto model = make(table);
      const Function f = [&](const std::vector<Tensor>&) {
        return model->loss(example(own), targets, 0);
      };
      EXPECT_LT(layer_error(table, f, std::vector<Tensor>()), 1e-5);
    }
  }
}

TEST(StoryModel, AStoryDoesNotDependOnItsNeighbour) {
  const ModelInputs alone = second_alone();
  for (const auto& [name, make] : answerers()) {
    SCOPED_TRACE(name);
    Parameters table(4);
    const auto model = make(table);
    const Tensor together = (*model)(example()).scores, one = (*model)(alone).scores;
    for (int64_t c = 0; c < 3; ++c) EXPECT_NEAR(one.read()[c], together.read()[3 + c], 1e-5);
  }
}

// The newest sentences are kept where a memory is smaller than the story.
TEST(StoryModel, AMemorySmallerThanTheStoryKeepsTheNewest) {
  const RememberedSentences kept =
      remembered(example().story, 3, {.memory = 2, .times = 2, .first_id = 10});
  EXPECT_EQ(kept.outer.lengths().read<int32_t>()[0], 2);
  EXPECT_EQ(kept.first.read<int32_t>()[0], 1);
  const auto ids = kept.words.ids.read<int32_t>();
  EXPECT_EQ(ids[0], 3);   // the second sentence comes first,
  EXPECT_EQ(ids[3], 11);  // and is older than the third
  EXPECT_EQ(ids[6], 10);
}

TEST(StoryModel, NoiseLeavesOutTimesAndKeepsTheirOrder) {
  Random random(3);
  const Tape tape(random);
  bool moved = false;
  for (int trial = 0; trial < 50; ++trial) {
    const RememberedSentences kept =
        remembered(example().story, 3, {.memory = 3, .times = 8, .first_id = 10, .noise = 0.9});
    const auto ids = kept.words.ids.read<int32_t>();
    EXPECT_GT(ids[2], ids[6]);
    EXPECT_GT(ids[6], ids[9]);
    moved |= ids[2] != 12;
  }
  EXPECT_TRUE(moved);
}

TEST(StoryModel, HopsAreSeenOverTheSentences) {
  for (const auto& [name, make] : answerers()) {
    if (name != "adjacent" && name != "memnn") continue;
    Parameters table(5);
    const auto model = make(table);
    Recorder recorder;
    (*model)(example());
    EXPECT_EQ(recorder.maps().size(), 2u);
    EXPECT_EQ(recorder["hops#2"].rows.dim(0), 2);
  }
}

TEST(StoryModel, AMemoryNetworkNeedsSupportingFacts) {
  Parameters table(6);
  const MemoryNetwork model(table, sizes, {});
  ModelInputs in = example();
  in.supporting = {};
  EXPECT_THROW(model.loss(in, Tensor::ids({2}, {1, 0}), 0), Error);
}

}  // namespace
}  // namespace fovea::test
