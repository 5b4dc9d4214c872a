// A trained folder as a library user asks it.
#include <gtest/gtest.h>

#include <thread>

#include "fovea/task/model.h"
#include "fovea/task/solver.h"
#include "support/gradient.h"
#include "support/scratch.h"

namespace fovea::test {
namespace {

const Model& sentiment() {
  static const ScratchFolder folder;
  static const Model model = Model::train("classify",
                                          {{"data", "builtin:sentiment"},
                                           {"steps", "8"},
                                           {"embed", "12"},
                                           {"width", "12"},
                                           {"examples", "200"},
                                           {"score", "dot"}},
                                          folder.path() + "/sentiment");
  return model;
}

const std::vector<std::string> lines{"the film was not good at all", "wonderful",
                                     "i did not like it , it was boring", "a good good book"};

TEST(Model, AnswersLinesInTheirOrderWithTheirMaps) {
  const auto together = sentiment().predict(lines, {.nbest = 2, .weights = true});
  ASSERT_EQ(together.size(), lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const Answer alone = sentiment().predict(lines[i], {.nbest = 2, .weights = true});
    EXPECT_EQ(together[i].best().text, alone.best().text);
    EXPECT_EQ(together[i].predictions.size(), 2u);
    ASSERT_EQ(together[i].maps.size(), 1u);
    const AnswerMap& map = together[i].maps[0];
    EXPECT_EQ(map.keys, alone.maps[0].keys) << "maps come in the order of the lines";
    EXPECT_EQ(map.weights.shape(), (Shape{1, static_cast<int64_t>(map.keys.size())}));
    expect_same_bits(map.weights, alone.maps[0].weights);
    EXPECT_NEAR(sum(map.weights).item(), 1, 1e-5);
  }
  EXPECT_EQ(together[1].maps[0].keys, std::vector<std::string>{"wonderful"});
  EXPECT_TRUE(sentiment().predict(lines)[0].maps.empty());
}

TEST(Model, ServesManyThreadsWithTheSameBits) {
  const auto want = sentiment().predict(lines, {.nbest = 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const auto got = sentiment().predict(lines, {.nbest = 2});
        for (size_t i = 0; i < lines.size(); ++i) {
          EXPECT_EQ(got[i].best().text, want[i].best().text);
          EXPECT_EQ(got[i].best().score, want[i].best().score);
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST(Model, RefusesWithAKind) {
  for (const int64_t nbest : {-1, 0}) {
    try {
      sentiment().predict(lines[0], {.nbest = nbest});
      ADD_FAILURE() << nbest << " answers were given";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()).find("--"), std::string::npos) << error.what();
    }
  }
  const ScratchFolder folder;
  try {
    Model::open(folder.path());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
  }
  EXPECT_THROW(Model::train("classify", {}, ""), Error);
}

TEST(Model, AFolderThatIsUsedTellsItsData) {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/lm";
  Model::train("lm",
               {{"data", "builtin:dates"},
                {"examples", "40"},
                {"steps", "2"},
                {"layers", "1"},
                {"width", "16"},
                {"heads", "1"},
                {"context", "16"},
                {"length", "12"}},
               path);
  EXPECT_NE(open_solver(path)->summary().find("tokens to learn from"), std::string::npos);

  // What a language model writes comes in pieces, which are the answer; seeds draw others.
  const Model model = Model::open(path);
  std::string told;
  int64_t pieces = 0;
  AskOptions ask;
  ask.nbest = 2, ask.seed = 3;
  ask.written = [&](size_t, std::string_view piece) { told += piece, ++pieces; };
  const Answer answer = model.predict("May ", ask);
  EXPECT_EQ(told, answer.best().text);
  EXPECT_GT(pieces, 5);
  EXPECT_EQ(model.predict("May ", ask).best().text, answer.best().text);
  ask.seed = 4;
  EXPECT_NE(model.predict("May ", ask).best().text, answer.best().text);
}

TEST(Model, WhatIsAnsweredAtOnceIsOnePiece) {
  std::vector<std::pair<size_t, std::string>> told;
  AskOptions ask;
  ask.written = [&](size_t line, std::string_view piece) { told.emplace_back(line, piece); };
  const auto answers = sentiment().predict(lines, ask);
  ASSERT_EQ(told.size(), lines.size());
  EXPECT_EQ(told[2], std::pair(size_t{2}, answers[2].best().text));
}

}  // namespace
}  // namespace fovea::test
